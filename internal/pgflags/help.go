package pgflags

import (
	"fmt"
	"strings"
)

// help renders the table as a program's help text: the intro, then the options under
// their headings, then the outro.
func help(intro string, table []option, outro string) string {
	var b strings.Builder
	b.WriteString(intro)
	group := ""
	for _, o := range table {
		if o.help == "" {
			continue
		}
		if o.group != "" && o.group != group {
			group = o.group
			fmt.Fprintf(&b, "\n%s:\n", group)
		}
		left := "  "
		if o.short != 0 {
			left += "-" + string(o.short)
			if o.long != "" {
				left += ", "
			}
		}
		if o.long != "" {
			left += "--" + o.long
			if o.arg != "" {
				left += "="
			}
		} else if o.arg != "" {
			left += " "
		}
		left += o.arg
		const column = 34
		indent := "\n" + strings.Repeat(" ", column)
		if len(left) >= column {
			b.WriteString(left + indent)
		} else {
			fmt.Fprintf(&b, "%-*s", column, left)
		}
		b.WriteString(strings.Join(wrap(o.help, 78-column), indent))
		b.WriteByte('\n')
	}
	b.WriteString(outro)
	return b.String()
}

// wrap cuts text into lines of at most width characters at its spaces.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
