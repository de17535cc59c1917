// Package limits bounds the memory, processors, connections and time that the requests of
// any client of `addon-manager webhook` can take. Any pod may be a client, and the API
// server has no certificate by which the webhook could recognize it.
package limits

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"sort"
	"time"

	"open-cluster-management.io/interlock/pkg/kube/httpserver"
	"open-cluster-management.io/interlock/pkg/text/rawjson"
)

const (
	// patience is how long a request waits for memory or a processor.
	patience = 10 * time.Second
	// overhead is the memory of a request without its body: buffers of its connection.
	overhead = 64 << 10
	// costOfValue is the memory that a decoded value in a body may take. `{}` in a
	// list becomes a map or a struct of this size.
	costOfValue = 400
	// parts is how many small requests take the share of a large one. Only a few requests
	// are handled at the same time: a container has few processors, and more requests would
	// only slow each other.
	parts = 3
	// startOfBody is how many bytes of a body are read if it is too large.
	startOfBody = 4 << 10
)

// Limits are shared by all handlers of a server.
type Limits struct {
	// memory is for bodies and responses. work is for the objects that handlers decode.
	memory, work *budget
	total        int64
	largestWork  int64
}

// New returns limits for a process with so many bytes of memory.
func New(memory int64) *Limits {
	work, bodies := memory/8, memory/4 // the rest is for decoded objects and garbage
	// Large requests are handled one after the other, small ones beside them.
	return &Limits{memory: newBudget(bodies, runtime.GC), work: newBudget(work, nil), total: bodies, largestWork: work / 4 * 3}
}

// Options configure the limits of a handler.
type Options struct {
	// Bytes is the maximum size of a body. If it is 0, memory bounds the size.
	Bytes int64
	// Check returns a reason if a body is refused before it is decoded. It may be nil.
	Check func(body []byte) string
	// Refuse returns the response to a body that Check refuses or that has too many bytes.
	// It gets the start of the body. Without a response, the request fails with code 413.
	Refuse func(start []byte, reason string) []byte
	// InPlace is set for a handler that decodes nothing, and makes its response while it
	// writes it. After each part, the handler calls Continue of the ResponseWriter.
	InPlace bool
	// Waits is set for a handler that mostly waits for its reads, and itself limits how
	// many requests read at the same time. Meanwhile it takes no slot from others, so that
	// it can respond in time that it had to wait for too long.
	Waits bool
}

// memory returns the memory that the body and the response of a request may take.
func (o Options) memory(body int64) int64 {
	if o.InPlace {
		return overhead + body
	}
	return overhead + 2*body
}

// work returns the memory that the handler may take for decoded objects.
func (o Options) work(body []byte) int64 {
	if o.InPlace {
		return 2 * int64(len(body))
	}
	// Annotations may have YAML, and each line break in a string is written with a backslash.
	return 2*int64(len(body)) + costOfValue*int64(rawjson.CountYAML(body, `\`))
}

// slotSize returns the share of work that a request needs.
func (l *Limits) slotSize(options Options, body []byte) int64 {
	minimum := l.largestWork / parts
	if options.Waits {
		minimum = 0
	}
	return min(max(options.work(body), minimum), l.largestWork)
}

// Handler reads requests, and calls the next handler once a request has its slot. A
// request that gets none soon is refused with code 429, and the API server repeats it.
func (l *Limits) Handler(options Options, next http.Handler) http.Handler {
	if options.Bytes == 0 {
		options.Bytes = int64(sort.Search(int(l.total), func(body int) bool { return options.memory(int64(body)) > l.total })) - 1
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method != http.MethodPost:
			http.Error(w, "only POST is served", http.StatusMethodNotAllowed)
			return
		case r.ContentLength < 0:
			http.Error(w, "the length of the body is required", http.StatusLengthRequired)
			return
		case r.ContentLength > options.Bytes:
			options.refuse(w, r.Body, fmt.Sprintf("the request is too large: at most %d bytes are read", options.Bytes))
			return
		}
		l.serve(w, r, options, next)
	})
}

func (l *Limits) serve(w http.ResponseWriter, r *http.Request, options Options, next http.Handler) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	client := httpserver.HostOf(r.RemoteAddr)
	memory, ok := l.memory.take(ctx, client, options.memory(r.ContentLength))
	if !ok {
		busy(w)
		return
	}
	defer l.memory.release(memory)
	interrupt := interrupter(w, cancel)
	l.memory.await(memory, interrupt)
	body := make([]byte, r.ContentLength)
	if _, err := io.ReadFull(r.Body, body); err != nil {
		http.Error(w, "the body did not arrive", http.StatusRequestTimeout)
		return
	}
	if !rawjson.IsObject(bytes.TrimLeft(body, " \t\r\n")) {
		// A decoder would try YAML, whose parser takes a lot more memory.
		http.Error(w, "the body is not a JSON object", http.StatusBadRequest)
		return
	}
	slot := &slot{limits: l, memory: memory, client: client, size: l.slotSize(options, body), interrupt: interrupt}
	if !slot.acquire(ctx) {
		busy(w)
		return
	}
	// A client that does not read its response must not make others wait.
	defer slot.release()
	w = &responseWriter{ResponseWriter: w, slot: slot, ctx: r.Context()}
	if options.Check != nil {
		if reason := options.Check(body); reason != "" {
			options.refuse(w, bytes.NewReader(body), reason)
			return
		}
	}
	r.Body = bufferedBody{bytes.NewBuffer(body)}
	next.ServeHTTP(w, r)
}

// interrupter returns a function that ends the reads, waits and writes of a request.
func interrupter(w http.ResponseWriter, cancel func()) func() {
	connection := http.NewResponseController(w)
	return func() {
		cancel()
		// An error means that the connection has ended by itself.
		_ = connection.SetReadDeadline(time.Unix(1, 0))
		_ = connection.SetWriteDeadline(time.Unix(1, 0))
	}
}

func busy(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	w.Header().Set("Connection", "close")
	http.Error(w, "too many requests", http.StatusTooManyRequests)
}

// refuse responds while the client may still write. net/http then leaves it some time to
// read the response. To read the body instead would take processors from other requests.
func (o Options) refuse(w http.ResponseWriter, body io.Reader, reason string) {
	w.Header().Set("Connection", "close")
	start, err := io.ReadAll(io.LimitReader(body, startOfBody))
	if err == nil && o.Refuse != nil {
		if response := o.Refuse(start, reason); response != nil {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(response) // an error means that the connection has ended
			return
		}
	}
	http.Error(w, reason, http.StatusRequestEntityTooLarge)
}

// bufferedBody is a body in memory. A handler that needs no copy calls Bytes.
type bufferedBody struct{ *bytes.Buffer }

// Close implements io.Closer.
func (bufferedBody) Close() error { return nil }

// slot allows a request to use processors. While the request has no slot, it waits for its client.
type slot struct {
	limits       *Limits
	memory, work *share
	client       string
	size         int64
	interrupt    func()
}

// acquire waits for the slot. It returns false if the request has to end.
func (s *slot) acquire(ctx context.Context) bool {
	work, ok := s.limits.work.take(ctx, s.client, s.size)
	if !ok {
		return false
	}
	if !s.limits.memory.resume(s.memory) {
		s.limits.work.release(work)
		return false
	}
	s.work = work
	return true
}

func (s *slot) release() {
	if s.work == nil {
		return
	}
	s.limits.work.release(s.work)
	s.work = nil
	s.limits.memory.await(s.memory, s.interrupt)
}

// responseWriter releases the slot of a request before it writes the response.
type responseWriter struct {
	http.ResponseWriter
	slot *slot
	ctx  context.Context
}

func (w *responseWriter) WriteHeader(code int) {
	w.slot.release()
	w.ResponseWriter.WriteHeader(code)
}

func (w *responseWriter) Write(content []byte) (int, error) {
	w.slot.release()
	return w.ResponseWriter.Write(content)
}

// Continue waits for another slot, for a handler that makes the rest of its response. It
// fails if the request has to end.
func (w *responseWriter) Continue() error {
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	if !w.slot.acquire(ctx) {
		return errors.New("other requests come first")
	}
	return nil
}
