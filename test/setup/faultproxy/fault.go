package faultproxy

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Fault is an event at a write.
type Fault int

const (
	// NoFault is no fault.
	NoFault Fault = iota
	// CrashBefore is a crash of the program before its write arrives.
	CrashBefore
	// CrashAfter is a crash of the program after its write is stored, and before it receives the response.
	CrashAfter
	// Conflict is the response 409 of an API server that has stored nothing.
	Conflict
	// Forbidden is the response 403 of an API server that has stored nothing.
	Forbidden
	// TooManyRequests is the response 429 of an API server that has stored nothing.
	TooManyRequests
	// InternalError is the response 500 of an API server that has stored nothing.
	InternalError
	// LostResponse is a timeout of a write that was stored.
	LostResponse
	// Held is a write that waits for Release, like the write of a leader that has been replaced.
	Held
)

var faultNames = map[Fault]string{
	CrashBefore: "a crash before", CrashAfter: "a crash after", Conflict: "a conflict at", Forbidden: "a refusal of",
	TooManyRequests: "too many requests at", InternalError: "an error at", LostResponse: "a lost response to", Held: "another leader before",
}

// String implements fmt.Stringer.
func (f Fault) String() string { return faultNames[f] }

// Crash reports whether the program ends.
func (f Fault) Crash() bool { return f == CrashBefore || f == CrashAfter }

var statuses = map[Fault]metav1.Status{
	Conflict:        {Code: http.StatusConflict, Reason: metav1.StatusReasonConflict},
	Forbidden:       {Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden},
	TooManyRequests: {Code: http.StatusTooManyRequests, Reason: metav1.StatusReasonTooManyRequests},
	InternalError:   {Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError},
	LostResponse:    {Code: http.StatusGatewayTimeout, Reason: metav1.StatusReasonTimeout},
}

// isWrite reports whether a request changes objects that others read. Events, leases and reviews do not count.
func isWrite(r *http.Request, uncounted []string) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	}
	for _, ignored := range append([]string{"/events", "/leases", "reviews"}, uncounted...) {
		if strings.Contains(r.URL.Path, ignored) {
			return false
		}
	}
	return !r.URL.Query().Has("dryRun")
}

// follows reports whether the fault happens after the write is stored.
func (f Fault) follows() bool { return f == CrashAfter || f == LostResponse }

// write forwards a write, unless the fault happens at it.
func (p *Proxy) write(w http.ResponseWriter, r *http.Request) {
	number, fault, released := p.count(r)
	if fault.Crash() {
		p.readLists()
	}
	if status, ok := statuses[fault]; ok && !fault.follows() {
		p.strike(number, int(status.Code))
		respond(w, status)
		return
	}
	if fault == CrashBefore {
		p.die(number)
	}
	if fault == Held {
		p.strike(number, 0)
		<-released
	}
	recording := &recorder{header: http.Header{}}
	versionBefore := p.version(r)
	p.forwarded.ServeHTTP(recording, r)
	unchanged := versionBefore != "" && recording.code < http.StatusMultipleChoices && versionBefore == p.version(r)
	switch happens := p.stored(number, recording.code, unchanged); {
	case happens && fault == CrashAfter:
		p.die(number)
	case happens:
		p.strike(number, int(statuses[fault].Code))
		respond(w, statuses[fault])
	default:
		recording.send(w)
	}
}

// count counts a write. It returns the number of the write, the fault that may happen at it, and the channel that
// releases held writes.
func (p *Proxy) count(r *http.Request) (int, Fault, <-chan struct{}) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.writes = append(p.writes, Write{Method: r.Method, Path: r.URL.Path})
	if p.changes+1 != p.number {
		return len(p.writes), NoFault, p.released
	}
	if !p.fault.follows() {
		p.number = 0 // it happens now
	}
	return len(p.writes), p.fault, p.released
}

// stored records the response to a write. It reports whether a fault happens that follows the write.
func (p *Proxy) stored(number, code int, unchanged bool) bool {
	p.responded(number, code, unchanged)
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if unchanged || code >= http.StatusMultipleChoices {
		return false
	}
	p.changes++
	happens := p.changes == p.number && p.fault.follows()
	if happens {
		p.number = 0
	}
	return happens
}

// responded records the response to a write. Inject may have forgotten the write meanwhile.
func (p *Proxy) responded(number, code int, unchanged bool) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if number <= len(p.writes) {
		p.writes[number-1].Code, p.writes[number-1].Unchanged = code, unchanged
	}
}

// strike records that the fault has happened.
func (p *Proxy) strike(number, code int) {
	p.responded(number, code, false)
	p.mutex.Lock()
	defer p.mutex.Unlock()
	close(p.struck)
}

// die ends all connections of the program, which receives no response any more.
func (p *Proxy) die(number int) {
	p.mutex.Lock()
	p.dead = true
	p.mutex.Unlock()
	p.strike(number, 0)
	panic(http.ErrAbortHandler)
}

// version returns the resourceVersion of the object that a write changes, or "" if the object does not exist.
func (p *Proxy) version(r *http.Request) string {
	if r.Method == http.MethodPost {
		return ""
	}
	current, ok := p.get(&url.URL{Path: strings.TrimSuffix(r.URL.Path, "/status")}, "application/json")
	object := metav1.PartialObjectMetadata{}
	if !ok || json.Unmarshal(current.body, &object) != nil {
		return ""
	}
	return object.ResourceVersion
}

func respond(w http.ResponseWriter, status metav1.Status) {
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	status.Status, status.Message = metav1.StatusFailure, "a fault that was injected"
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(status.Code))
	_ = json.NewEncoder(w).Encode(status) // the program notices that it is incomplete
}

// recorder keeps a response until it may be sent.
type recorder struct {
	header http.Header
	code   int
	body   []byte
}

// Header implements http.ResponseWriter.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(code int) { r.code = code }

// Write implements http.ResponseWriter.
func (r *recorder) Write(content []byte) (int, error) {
	if r.code == 0 {
		r.code = http.StatusOK
	}
	r.body = append(r.body, content...)
	return len(content), nil
}

func (r *recorder) send(w http.ResponseWriter) {
	for name, values := range r.header {
		w.Header()[name] = values
	}
	w.WriteHeader(r.code)
	_, _ = w.Write(r.body) // the program notices that it is incomplete
}
