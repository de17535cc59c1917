// Package limits bounds what the requests of any client of `addon-manager webhook` can
// take: memory, processors, connections and time. Any pod may be a client, and the API
// server has no certificate by which to know it.
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

	"open-cluster-management.io/interlock/pkg/rawjson"
)

const (
	// patience is how long a request waits for memory or a processor.
	patience = 10 * time.Second
	// overhead is what a request takes beyond its body: buffers of its connection.
	overhead = 64 << 10
	// costOfValue is what a value in a body may take when it is decoded. `{}` in a
	// list becomes a map or a struct of this size.
	costOfValue = 400
	// parts is how many small requests take what a large one does. A few at a time are
	// handled: a container has few processors, and more would only slow each other.
	parts = 3
	// startOfBody is how much of a body is read that is too large, in bytes.
	startOfBody = 4 << 10
)

// Limits are shared by all handlers of a server.
type Limits struct {
	// memory is for bodies and responses; work for what handlers make of the bodies.
	memory, work *budget
	total        int64
	largestWork  int64
}

// New returns limits for a process with so many bytes of memory.
func New(memory int64) *Limits {
	work, bodies := memory/8, memory/4 // the rest is for what handlers decode, and for garbage
	// Large requests are handled one after the other, small ones beside them.
	return &Limits{memory: newBudget(bodies, runtime.GC), work: newBudget(work, nil), total: bodies, largestWork: work / 4 * 3}
}

// Of limits a request.
type Of struct {
	// Bytes of its body; 0: as many as memory permits.
	Bytes int64
	// Check returns why a body is refused before it is decoded; nil: none is.
	Check func(body []byte) (why string)
	// Refuse returns the response to a body that Check refuses or that has too many bytes,
	// given its start; nil: the code 413.
	Refuse func(start []byte, why string) []byte
	// InPlace: the handler decodes nothing, and makes its response while it writes it. After
	// each part it calls Continue of the ResponseWriter.
	InPlace bool
	// Waits: the handler mostly waits for what it reads elsewhere, and limits itself how many do at a time. It takes no turn
	// from others meanwhile, so that it can respond in time that it was not its turn.
	Waits bool
}

// memory is what the body and the response of a request may take.
func (of Of) memory(body int64) int64 {
	if of.InPlace {
		return overhead + body
	}
	return overhead + 2*body
}

// work is what a handler may make of the body.
func (of Of) work(body []byte) int64 {
	if of.InPlace {
		return 2 * int64(len(body))
	}
	// Annotations may have YAML, and each line break in a string is written with a backslash.
	return 2*int64(len(body)) + costOfValue*int64(rawjson.CountYAML(body, `\`))
}

// turnOf is the share of work that a request waits for.
func (l *Limits) turnOf(of Of, body []byte) int64 {
	least := l.largestWork / parts
	if of.Waits {
		least = 0
	}
	return min(max(of.work(body), least), l.largestWork)
}

// Handler hands requests over to a handler once they are read, when it is their turn.
// What cannot be handled soon is refused with the code 429, and the API server repeats
// it.
func (l *Limits) Handler(of Of, next http.Handler) http.Handler {
	if of.Bytes == 0 {
		of.Bytes = int64(sort.Search(int(l.total), func(body int) bool { return of.memory(int64(body)) > l.total })) - 1
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method != http.MethodPost:
			http.Error(w, "only POST is served", http.StatusMethodNotAllowed)
			return
		case r.ContentLength < 0:
			http.Error(w, "the length of the body is required", http.StatusLengthRequired)
			return
		case r.ContentLength > of.Bytes:
			of.refuse(w, r.Body, fmt.Sprintf("the request is too large: at most %d bytes are read", of.Bytes))
			return
		}
		l.serve(w, r, of, next)
	})
}

func (l *Limits) serve(w http.ResponseWriter, r *http.Request, of Of, next http.Handler) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	client := hostOf(r.RemoteAddr)
	memory, ok := l.memory.take(ctx, client, of.memory(r.ContentLength))
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
	turn := &turn{limits: l, memory: memory, client: client, size: l.turnOf(of, body), interrupt: interrupt}
	if !turn.take(ctx) {
		busy(w)
		return
	}
	// A client that does not read its response lets no other one wait.
	defer turn.end()
	w = &responding{ResponseWriter: w, turn: turn, ctx: r.Context()}
	if of.Check != nil {
		if why := of.Check(body); why != "" {
			of.refuse(w, bytes.NewReader(body), why)
			return
		}
	}
	r.Body = whole{bytes.NewBuffer(body)}
	next.ServeHTTP(w, r)
}

// interrupter returns a function that ends reading, waiting and writing of a request.
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
func (of Of) refuse(w http.ResponseWriter, body io.Reader, why string) {
	w.Header().Set("Connection", "close")
	start, err := io.ReadAll(io.LimitReader(body, startOfBody))
	if err == nil && of.Refuse != nil {
		if response := of.Refuse(start, why); response != nil {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(response) // an error means that the connection has ended
			return
		}
	}
	http.Error(w, why, http.StatusRequestEntityTooLarge)
}

// whole is a body in memory. A handler that can do without a copy calls Bytes.
type whole struct{ *bytes.Buffer }

// Close implements io.Closer.
func (whole) Close() error { return nil }

// turn is when a request may use processors. In between, it waits for its client.
type turn struct {
	limits       *Limits
	memory, work *share
	client       string
	size         int64
	interrupt    func()
}

// take waits for a turn, and reports whether there is one.
func (t *turn) take(ctx context.Context) bool {
	work, ok := t.limits.work.take(ctx, t.client, t.size)
	if !ok {
		return false
	}
	if !t.limits.memory.resume(t.memory) {
		t.limits.work.release(work)
		return false
	}
	t.work = work
	return true
}

func (t *turn) end() {
	if t.work == nil {
		return
	}
	t.limits.work.release(t.work)
	t.work = nil
	t.limits.memory.await(t.memory, t.interrupt)
}

// responding ends the turn of a request before its response is written.
type responding struct {
	http.ResponseWriter
	turn *turn
	ctx  context.Context
}

func (r *responding) WriteHeader(code int) {
	r.turn.end()
	r.ResponseWriter.WriteHeader(code)
}

func (r *responding) Write(content []byte) (int, error) {
	r.turn.end()
	return r.ResponseWriter.Write(content)
}

// Continue waits for another turn, for a handler that makes the rest of its response. It
// fails where the request has to end.
func (r *responding) Continue() error {
	ctx, cancel := context.WithTimeout(r.ctx, patience)
	defer cancel()
	if !r.turn.take(ctx) {
		return errors.New("other requests come first")
	}
	return nil
}
