package faultproxy

import (
	"io"
	"net/http"
	"net/url"
)

// Lists are responses to the list requests with which a program fills its caches.
type Lists map[string]response

type response struct {
	header http.Header
	body   []byte
}

// fillsCache reports whether a request is the list of an informer. Other lists name no resourceVersion.
func fillsCache(r *http.Request) bool { return r.URL.Query().Has("resourceVersion") }

// key identifies a list, independent of the requested version.
func key(r *http.Request) string { return r.Header.Get("Accept") + " " + current(r.URL).String() }

// current returns the address of the newest list without pages.
func current(address *url.URL) *url.URL {
	query := address.Query()
	for _, parameter := range []string{"resourceVersion", "resourceVersionMatch", "limit", "continue", "timeout"} {
		query.Del(parameter)
	}
	return &url.URL{Path: address.Path, RawQuery: query.Encode()}
}

// list responds to the list of an informer. If there is a list of an earlier program, the first response is that
// list.
func (p *Proxy) list(w http.ResponseWriter, r *http.Request) {
	p.mutex.Lock()
	_, repeated := p.listed[key(r)]
	p.listed[key(r)] = r.Clone(r.Context())
	p.mutex.Unlock()
	if earlier, ok := p.earlier[key(r)]; ok && !repeated {
		for name, values := range earlier.header {
			w.Header()[name] = values
		}
		_, _ = w.Write(earlier.body) // the program notices that it is incomplete
		return
	}
	p.forwarded.ServeHTTP(w, r)
}

// readLists reads the current state of all lists with which the program has filled its caches.
func (p *Proxy) readLists() {
	p.mutex.Lock()
	listed := make(map[string]*http.Request, len(p.listed))
	for key, request := range p.listed {
		listed[key] = request
	}
	p.mutex.Unlock()
	read := Lists{}
	for key, request := range listed {
		if list, ok := p.get(current(request.URL), request.Header.Get("Accept")); ok {
			read[key] = list
		}
	}
	p.mutex.Lock()
	p.read = read
	p.mutex.Unlock()
}

// get reads an address of the API server. It returns false if that fails.
func (p *Proxy) get(address *url.URL, accept string) (response, bool) {
	request, err := http.NewRequest(http.MethodGet, p.target.ResolveReference(address).String(), http.NoBody)
	if err != nil {
		return response{}, false
	}
	request.Header.Set("Accept", accept)
	result, err := p.transport.RoundTrip(request)
	if err != nil {
		return response{}, false
	}
	defer func() { _ = result.Body.Close() }() // it was read
	body, err := io.ReadAll(result.Body)
	return response{header: http.Header{"Content-Type": result.Header["Content-Type"]}, body: body}, err == nil && result.StatusCode == http.StatusOK
}
