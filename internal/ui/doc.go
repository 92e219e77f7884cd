// Package ui is what a person sees of a running command: messages in the form of
// PostgreSQL's programs, and progress as a line on a terminal, as plain lines
// elsewhere, or as JSON lines for scripts. The engines report to it through
// interfaces of their own (dump.Progress, restore.Progress); nothing flows back.
package ui
