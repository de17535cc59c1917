// Package undone decides how long to pause an action that other writers undo again and again.
package undone

import "time"

// An action that is undone twice within an hour pauses for an hour. The pause doubles each time, up to a day.
const (
	Within  = time.Hour
	Longest = 24 * time.Hour

	threshold = 2
)

// Pause returns the pause of an action that was undone this number of times. It is zero if the action is repeated at once.
func Pause(times int) time.Duration {
	if times < threshold {
		return 0
	}
	pause := Within
	for range min(times, 10) - threshold { // that many doublings reach the maximum
		pause = min(2*pause, Longest)
	}
	return pause
}
