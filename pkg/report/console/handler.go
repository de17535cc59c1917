package console

import (
	"context"
	"embed"
	"errors"
	"net/http"
	"runtime"
	"sync"
	"time"
)

//go:embed static/index.html static/app.js static/app.css
var static embed.FS

// policy is the Content-Security-Policy of all responses. The page loads its own script and style sheet, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; " +
	"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// files are the files of the page, by path.
var files = map[string]struct{ name, kind string }{
	"/":        {"static/index.html", "text/html; charset=utf-8"},
	"/app.js":  {"static/app.js", "text/javascript; charset=utf-8"},
	"/app.css": {"static/app.css", "text/css; charset=utf-8"},
}

// Viewers decides on the views of viewers.
type Viewers interface {
	// Admit returns the view of the viewer that has sent a request. Its error is a *Refusal, or a failure.
	Admit(r *http.Request) (Admission, error)
}

// Admission is the result of a request of a viewer.
type Admission struct {
	View *View
	// Viewer identifies the viewer. Each viewer has a limited number of streams.
	Viewer string
}

// Refusal is the reason why a viewer has no view.
type Refusal struct {
	Status int
	// Text explains the reason to the viewer.
	Text string
	// Challenge is the header WWW-Authenticate. It is empty for other states than StatusUnauthorized.
	Challenge string
}

// Error implements error.
func (r *Refusal) Error() string { return r.Text }

// isTemporary reports whether the console could not decide, so that a viewer keeps the page and tries again.
func (r *Refusal) isTemporary() bool {
	return r.Status == http.StatusTooManyRequests || r.Status == http.StatusServiceUnavailable
}

// Handler serves the page, and the views of its viewers.
type Handler struct {
	Viewers Viewers
	// IsHost reports whether the console is served under the host that a request names.
	IsHost func(host string) bool
	// Review is the time after which the viewer of a stream is admitted again. If it is zero, the first admission counts.
	Review time.Duration
	// LogFailure logs a failure of an admission or of a view. It may be nil.
	LogFailure func(error)

	mutex sync.Mutex
	// streams has the number of streams of each viewer. total is their sum.
	streams map[string]int
	total   int
	// working has an element for each request for data that is being served.
	working chan struct{}
}

// NewHandler returns a handler for viewers. isHost reports whether the console is served under the host that a request names.
func NewHandler(viewers Viewers, isHost func(host string) bool) *Handler {
	return &Handler{Viewers: viewers, IsHost: isHost, streams: map[string]int{}, working: make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// The largest number of streams of events, of all viewers and of one.
const (
	maxStreams         = 256
	maxStreamsOfViewer = 64
)

// patience is how long a request for data waits until others have been served.
const patience = 10 * time.Second

// ServeHTTP implements http.Handler. The files of the page have no data, so that a browser gets them without a token.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range map[string]string{
		"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
	} {
		w.Header().Set(name, value)
	}
	switch file, isFile := files[r.URL.Path]; {
	case !h.IsHost(r.Host):
		http.Error(w, "this host is not served here", http.StatusMisdirectedRequest)
	case r.Method != http.MethodGet:
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "only GET", http.StatusMethodNotAllowed)
	case r.URL.Path == "/favicon.ico":
		w.WriteHeader(http.StatusNoContent)
	case isFile:
		content, err := static.ReadFile(file.name)
		if err != nil {
			http.Error(w, "no such file", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", file.kind)
		_, _ = w.Write(content) // the viewer has gone
	default:
		h.serveViewer(w, r)
	}
}

// serveViewer serves data to an admitted viewer.
func (h *Handler) serveViewer(w http.ResponseWriter, r *http.Request) {
	admitted, err := h.Viewers.Admit(r)
	switch refusal := (*Refusal)(nil); {
	case errors.As(err, &refusal):
		if refusal.Challenge != "" {
			w.Header().Set("WWW-Authenticate", refusal.Challenge)
		}
		http.Error(w, refusal.Text, refusal.Status)
	case err != nil:
		h.fail(err)
		unavailable(w, noReview)
	case r.URL.Path == "/api/events":
		h.serveEvents(w, r, admitted)
	default:
		h.serveData(w, r, admitted.View)
	}
}

// noReview is the message for a viewer if the admission fails.
const noReview = "the hub does not respond to reviews of your token and rights"

func unavailable(w http.ResponseWriter, reason string) {
	w.Header().Set("Retry-After", "2")
	http.Error(w, reason, http.StatusServiceUnavailable)
}

func (h *Handler) fail(err error) {
	if h.LogFailure != nil && !errors.Is(err, context.Canceled) { // else the viewer has gone
		h.LogFailure(err)
	}
}

// Streams returns the number of streams of events.
func (h *Handler) Streams() int {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.total
}

// open counts another stream of a viewer. It returns the status and the reason if there are too many, and a function that ends the stream.
func (h *Handler) open(viewer string) (end func(), status int, reason string) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	switch {
	case h.streams[viewer] >= maxStreamsOfViewer:
		return nil, http.StatusTooManyRequests, "too many tabs of yours show this page: close some"
	case h.total >= maxStreams:
		return nil, http.StatusServiceUnavailable, "too many viewers have this page open: try again later"
	}
	h.streams[viewer]++
	h.total++
	return func() { h.close(viewer) }, http.StatusOK, ""
}

func (h *Handler) close(viewer string) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.total--
	if h.streams[viewer]--; h.streams[viewer] == 0 {
		delete(h.streams, viewer)
	}
}
