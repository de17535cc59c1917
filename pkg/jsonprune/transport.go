package jsonprune

import (
	"bufio"
	"errors"
	"io"
	"mime"
	"net/http"
	"path"
)

// bufferSize is how much is read at a time: more than most watch events take.
const bufferSize = 16 << 10

// Transport prunes the events of watches; all other responses pass.
type Transport struct {
	// Next makes the requests.
	Next http.RoundTripper
	// Drop is what no component behind this transport reads, by resource: the last part
	// of a watch's path. Watches of others pass.
	Drop map[string]*Drop
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.Next.RoundTrip(request)
	drop, known := t.Drop[path.Base(request.URL.Path)]
	if err != nil || !known || !isWatch(request) || !isJSON(response) {
		return response, err
	}
	response.Body = &events{lines: bufio.NewReaderSize(response.Body, bufferSize), body: response.Body, drop: drop}
	response.ContentLength = -1
	return response, nil
}

// WrappedRoundTripper lets client-go find the transport below.
func (t *Transport) WrappedRoundTripper() http.RoundTripper { return t.Next }

func isWatch(request *http.Request) bool {
	watch := request.URL.Query().Get("watch")
	return request.Method == http.MethodGet && (watch == "true" || watch == "1")
}

func isJSON(response *http.Response) bool {
	kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	return err == nil && kind == "application/json" && response.StatusCode == http.StatusOK
}

// events are the events of a watch, one on each line.
type events struct {
	lines *bufio.Reader
	body  io.Closer
	drop  *Drop
	// line and pruned are used again and again; unread is the rest of pruned.
	line, pruned, unread []byte
	err                  error
}

// Read implements io.Reader.
func (e *events) Read(p []byte) (int, error) {
	for len(e.unread) == 0 {
		if e.err != nil {
			return 0, e.err
		}
		e.readLine()
		e.pruned = Prune(e.pruned[:0], e.line, e.drop)
		e.unread = e.pruned
	}
	n := copy(p, e.unread)
	e.unread = e.unread[n:]
	return n, nil
}

// readLine reads up to the end of a line, or of everything.
func (e *events) readLine() {
	e.line = e.line[:0]
	for {
		part, err := e.lines.ReadSlice('\n')
		e.line = append(e.line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			e.err = err
			return
		}
	}
}

// Close implements io.Closer.
func (e *events) Close() error { return e.body.Close() }
