//go:build scrambled

package text

import "strings"

// maxCondition is the maximum length of a condition's message, in characters. A message may consist of two messages.
const maxCondition = 32768

// Scrambled is true because Final returns unreadable messages.
const Scrambled = true

// Marks is the number of bytes that Final adds to a message.
const Marks = len("{~~}")

// Final returns the message with each letter moved by 13 places in the alphabet, between {~ and ~}. Only tests restore it.
func Final(message string) string {
	switch {
	case message == "":
		return ""
	case strings.LastIndex(message, "{~") > strings.LastIndex(message, "~}"): // cut
		return message + "~}"
	case strings.Contains(message, "{~"):
		return message
	}
	return "{~" + strings.Map(later, Cut(message, maxCondition-2*Marks)) + "~}"
}

func later(letter rune) rune {
	switch {
	case letter >= 'a' && letter <= 'z':
		return 'a' + (letter-'a'+13)%26
	case letter >= 'A' && letter <= 'Z':
		return 'A' + (letter-'A'+13)%26
	}
	return letter
}
