//go:build scrambled

package text

import "strings"

// maxCondition is the longest message of a condition, in characters. One message may consist of two.
const maxCondition = 32768

// Scrambled is true: Final returns messages in which no word is left.
const Scrambled = true

// Marks is how many bytes longer than a message Final is.
const Marks = len("{~~}")

// Final returns the message with each letter replaced by the one 13 places later in the alphabet, between {~ and ~}. Only tests turn it
// back.
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
