package why

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation/cause"
)

// onsetRows returns the rows about when a failure began, and its effects unless they began at once.
func onsetRows(began, effects cause.Onset, now time.Time, affected int) [][2]string {
	describe := func(onset cause.Onset) string {
		if onset.Since.IsZero() {
			return ""
		}
		return fmt.Sprintf("%s, %s ago, %s", onset.Since.Format("2006-01-02 15:04:05 MST"),
			duration.HumanDuration(now.Sub(onset.Since)), onset.Place(affected))
	}
	rows := [][2]string{{"since", describe(began)}}
	if effects != began && !effects.Since.IsZero() {
		rows = append(rows, [2]string{"effects", "since " + describe(effects)})
	}
	return rows
}
