//go:build !scrambled

package text

// Scrambled is false because Final returns messages unchanged.
const Scrambled = false

// Marks is the number of bytes that Final adds to a message.
const Marks = 0

// Final returns a finished message for people. Every message of a condition and every note of an event passes it last. With the build tag
// scrambled, its result is unreadable, so that tests show that no program reads a message.
func Final(message string) string { return message }
