package viewers

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Names of the metrics of the console.
const (
	NameStreams = "interlock_console_streams"
	NameViews   = "interlock_console_views"
	NameReviews = "interlock_console_reviews_total"
)

// Help maps the name of every metric of the console to its meaning.
var Help = map[string]string{
	NameStreams: "Open pages, each of which receives the changes of the fleet.",
	NameViews:   "Different parts of the fleet that viewers see by their rights. Viewers with the same rights share one.",
	NameReviews: "Reviews that the console has requested of the API server, by kind (token or access) and result (allowed, denied or error).",
}

// review is a kind of a review.
type review string

// The kinds of reviews.
const (
	reviewToken  review = "token"
	reviewAccess review = "access"
)

// Metrics are the metrics of the console that are counted.
type Metrics struct{ reviews *prometheus.CounterVec }

// NewMetrics registers the metrics that are counted.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	return &Metrics{promauto.With(registry).NewCounterVec(
		prometheus.CounterOpts{Name: NameReviews, Help: Help[NameReviews]}, []string{"kind", "result"})}
}

// RegisterGauges registers the metrics that are read when they are scraped.
func RegisterGauges(registry prometheus.Registerer, streams, views func() int) {
	for name, read := range map[string]func() int{NameStreams: streams, NameViews: views} {
		promauto.With(registry).NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: Help[name]}, func() float64 { return float64(read()) })
	}
}

func (m *Metrics) count(kind review, allowed bool, err error) {
	result := "denied"
	switch {
	case err != nil:
		result = "error"
	case allowed:
		result = "allowed"
	}
	m.reviews.WithLabelValues(string(kind), result).Inc()
}
