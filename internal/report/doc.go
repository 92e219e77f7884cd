// Package report writes down what a drill found. In comes a [drill.Report]; out goes a text for a
// terminal, JUnit XML for a CI, or one HTML page for people who were not there.
package report
