// Package greeting stands for the modules that programs are linked from.
package greeting

// Text greets.
const Text = "hello"
