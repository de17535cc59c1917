package overview

import (
	"cmp"
	"fmt"
	"strings"

	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

// fails reports whether an add-on in a state certainly does not work.
func (s State) fails() bool { return s == Failing || s == Down }

// setHeadline sets the sentence about the add-ons that fail, and how many of them the first root cause explains.
func (o *Overview) setHeadline(clusters []located, states *stateFinder, causes *report.RootCauses) {
	failing, explained := 0, 0
	for i := range clusters {
		for _, each := range clusters[i].states {
			if !each.state.fails() {
				continue
			}
			failing++
			if key := (location{clusters[i].name, each.addOn}); states.isOf(key, 1) {
				explained++
			}
		}
	}
	switch failing {
	case 0:
		o.Headline = "No add-on is known to fail."
		return
	case 1:
		o.Headline = "1 add-on fails"
	default:
		o.Headline = fmt.Sprintf("%d add-ons fail", failing)
	}
	if explained > 0 {
		first := &causes.Items[0]
		subject := "all of them"
		switch {
		case failing == 1:
			subject = "it does"
		case explained < failing:
			subject = fmt.Sprintf("%d of them", explained)
		}
		o.Headline += fmt.Sprintf("; %s because of %s on %s", subject, text.Name(cmp.Or(first.AddOn, first.API, first.Requirement)),
			text.Count(len(first.Clusters()), "managed cluster"))
	}
	o.Headline += "."
}

// setScope describes the managed clusters, with the numbers of those that count.
func (o *Overview) setScope() {
	o.Scope = text.Count(o.Reach.Clusters+o.Lost+o.Detached, "managed cluster")
	var parts []string
	for _, part := range []struct {
		count int
		text  string
	}{{o.Lost, "cannot be reached"}, {o.Detached, "will be detached"}} {
		if part.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.count, part.text))
		}
	}
	if len(parts) > 0 {
		o.Scope += fmt.Sprintf(" (%s; root causes count the other %d)", strings.Join(parts, ", "), o.Reach.Clusters)
	}
}
