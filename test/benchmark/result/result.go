// Package result is what a benchmark has found: figures with their spread and
// bounds, curves, and their forms as JSON, Markdown and SVG.
package result

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Report is one run of the benchmark.
type Report struct {
	Machine  Machine       `json:"machine"`
	Command  string        `json:"command"`
	Started  time.Time     `json:"started"`
	Took     time.Duration `json:"tookNanoseconds"`
	Settings []Setting     `json:"settings"`
	// Scenarios are in the order in which they ran.
	Scenarios []*Scenario `json:"scenarios"`
}

// Setting is one of the parameters of a run.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Scenario is what one scenario has found.
type Scenario struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	// Method says in a few sentences what was done and what is compared with what.
	Method  string        `json:"method"`
	Took    time.Duration `json:"tookNanoseconds"`
	Figures []*Figure     `json:"figures"`
	Charts  []Chart       `json:"charts,omitempty"`
	// Error is why the scenario could not be carried through.
	Error string `json:"error,omitempty"`
}

// Rule says how a figure is held against its limit.
type Rule string

// The rules. A ratio of two measurements has a spread, hence the median; where
// a thing must never happen, the worst value counts.
const (
	NoLimit       Rule = ""
	MedianAtMost  Rule = "median at most"
	MedianAtLeast Rule = "median at least"
	NeverAbove    Rule = "never above"
)

// Figure is one measured quantity: a value for each repetition.
type Figure struct {
	Name   string    `json:"name"`
	Unit   string    `json:"unit"`
	Values []float64 `json:"values"`
	Rule   Rule      `json:"rule,omitempty"`
	Limit  float64   `json:"limit,omitempty"`
}

// Measure adds a value to the figure of that name and makes the figure where
// there is none yet.
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

// add keeps infinity as the greatest number there is: JSON has no word for it.
func (f *Figure) add(value float64) {
	f.Values = append(f.Values, min(value, math.MaxFloat64))
}

// Holds reports whether the figure keeps its limit. One without values does
// not: nothing has been shown.
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

// Missed lists, in words, every bound that does not hold and every scenario
// that failed.
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
