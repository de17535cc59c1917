// Package result has the results of a benchmark: figures with their spread and
// bounds, and curves. It writes them as JSON, Markdown and SVG.
package result

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Report has the results of a run of the benchmark.
type Report struct {
	Machine  Machine       `json:"machine"`
	Command  string        `json:"command"`
	Started  time.Time     `json:"started"`
	Took     time.Duration `json:"tookNanoseconds"`
	Settings []Setting     `json:"settings"`
	// Scenarios are in the order in which they ran.
	Scenarios []*Scenario `json:"scenarios"`
}

// Setting is a parameter of a run.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Scenario has the results of one scenario.
type Scenario struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	// Method describes the steps and the comparison in a few sentences.
	Method  string        `json:"method"`
	Took    time.Duration `json:"tookNanoseconds"`
	Figures []*Figure     `json:"figures"`
	Charts  []Chart       `json:"charts,omitempty"`
	// Error is the reason why the scenario failed.
	Error string `json:"error,omitempty"`
}

// Rule is how a figure is compared with its limit.
type Rule string

// The rules. A ratio of two measurements varies, so its median counts. For events that must never happen, the worst
// value counts.
const (
	NoLimit       Rule = ""
	MedianAtMost  Rule = "median at most"
	MedianAtLeast Rule = "median at least"
	NeverAbove    Rule = "never above"
)

// Figure is a measured quantity, with a value for each repetition.
type Figure struct {
	Name   string    `json:"name"`
	Unit   string    `json:"unit"`
	Values []float64 `json:"values"`
	Rule   Rule      `json:"rule,omitempty"`
	Limit  float64   `json:"limit,omitempty"`
}

// Measure adds a value to the figure of that name. It creates a missing figure.
func (s *Scenario) Measure(name, unit string, value float64) {
	s.figure(name, unit).add(value)
}

// Bound is Measure for a figure that has a limit.
func (s *Scenario) Bound(name, unit string, value float64, rule Rule, limit float64) {
	figure := s.figure(name, unit)
	figure.Rule, figure.Limit = rule, limit
	figure.add(value)
}

func (s *Scenario) figure(name, unit string) *Figure {
	for _, figure := range s.Figures {
		if figure.Name == name {
			return figure
		}
	}
	figure := &Figure{Name: name, Unit: unit}
	s.Figures = append(s.Figures, figure)
	return figure
}

// add stores infinity as the greatest number, because JSON has no infinity.
func (f *Figure) add(value float64) {
	f.Values = append(f.Values, min(value, math.MaxFloat64))
}

// Holds reports whether the figure keeps its limit. A figure without values does not.
func (f *Figure) Holds() bool {
	if f.Rule == NoLimit {
		return true
	}
	if len(f.Values) == 0 {
		return false
	}
	switch f.Rule {
	case MedianAtMost:
		return Median(f.Values) <= f.Limit
	case MedianAtLeast:
		return Median(f.Values) >= f.Limit
	case NeverAbove:
		return slices.Max(f.Values) <= f.Limit
	default:
		return false
	}
}

// Missed lists every bound that does not hold and every scenario that failed.
func (r *Report) Missed() []string {
	var missed []string
	for _, scenario := range r.Scenarios {
		if scenario.Error != "" {
			missed = append(missed, fmt.Sprintf("scenario %s failed: %s", scenario.ID, scenario.Error))
		}
		for _, figure := range scenario.Figures {
			if !figure.Holds() {
				missed = append(missed, fmt.Sprintf("scenario %s: %s is %s, bound: %s",
					scenario.ID, figure.Name, figure.Spread(), figure.Bound()))
			}
		}
	}
	return missed
}
