// Package undone decides for how long something is given up that other writers undo again and again.
package undone

import "time"

// What is undone twice within an hour is given up for an hour, then for two hours, at most for a day.
const (
	Within  = time.Hour
	Longest = 24 * time.Hour

	atMost = 2
)

// Pause returns for how long something is given up that was undone so many times; zero: it is done again.
func Pause(times int) time.Duration {
	if times < atMost {
		return 0
	}
	pause := Within
	for range min(times, 10) - atMost { // by then, it is the longest
		pause = min(2*pause, Longest)
	}
	return pause
}
