//go:build !scrambled

package text

// Scrambled is false: Final returns messages as they are.
const Scrambled = false

// Marks is how many bytes longer than a message Final is.
const Marks = 0

// Final returns a finished message for people. Every message of a condition and every note of an event passes it last. With the build tag
// scrambled, nothing can be read in what it returns, so that tests show that no program reads a message.
func Final(message string) string { return message }
