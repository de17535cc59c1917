package console

import (
	"errors"
	"net/http"
	"time"
)

// Times of a stream of events: a comment shows a viewer that the console is alive, and a viewer that does not read is disconnected.
const (
	heartbeat    = 15 * time.Second
	writeTimeout = 30 * time.Second
	// retryReview is the time after which a failed review of a viewer is repeated.
	retryReview = 2 * time.Second
	// refreshAfter is the age at which a viewer gets an overview again that has not changed, so that the page knows that it is current. Earlier,
	// a change that the viewer may not see would show as an event.
	refreshAfter = 20 * time.Second
)

// stream is the stream of events of a viewer.
type stream struct {
	handler  *Handler
	request  *http.Request
	response http.ResponseWriter
	writer   *http.ResponseController
	view     *View
	// sent is the view that the viewer has, generation and version are its state, and sentAt is when it was sent. trouble is the reason that the viewer has.
	sent       *View
	generation int
	version    int
	sentAt     time.Time
	trouble    string
	// failed is true while the viewer cannot be admitted again because the hub does not respond. Nothing new is shown then.
	failed bool
}

// serveEvents sends the current overview, and again each time that it changes. A slow viewer misses states between, not the last one.
func (h *Handler) serveEvents(w http.ResponseWriter, r *http.Request, admitted Admission) {
	end, status, reason := h.open(admitted.Viewer)
	if end == nil {
		w.Header().Set("Retry-After", "10")
		http.Error(w, reason, status)
		return
	}
	defer end()
	w.Header().Set("Content-Type", "text/event-stream")
	s := &stream{handler: h, request: r, response: w, writer: http.NewResponseController(w), view: admitted.View}
	if err := s.writer.Flush(); err != nil {
		return
	}
	if err := s.run(); err != nil {
		h.fail(err)
	}
}

// run sends events until the viewer has gone, or may see the view no more. Its error is a failure of the console.
func (s *stream) run() error {
	review := s.nextReview()
	for {
		now := s.view.fleet.moment()
		isSent, err := s.show(now)
		if err != nil || !isSent {
			return err
		}
		select {
		case <-s.request.Context().Done():
			return nil
		case <-now.changed:
			if !s.wait(s.view.rest()) {
				return nil
			}
		case <-time.After(heartbeat):
			if !s.send([]byte(": alive\n\n")) {
				return nil
			}
		case <-review:
			if !s.admit() {
				return nil
			}
			review = s.nextReview()
		}
	}
}

// nextReview returns when the viewer is admitted again. It is nil for never.
func (s *stream) nextReview() <-chan time.Time {
	switch {
	case s.handler.Review == 0:
		return nil
	case s.failed:
		return time.After(min(retryReview, s.handler.Review))
	default:
		return time.After(s.handler.Review)
	}
}

// admit admits the viewer again. It returns false if the viewer is refused.
func (s *stream) admit() bool {
	admitted, err := s.handler.Viewers.Admit(s.request)
	if s.failed = err != nil; !s.failed {
		s.view = admitted.View
		return true
	}
	refusal := (*Refusal)(nil)
	if !errors.As(err, &refusal) {
		s.handler.fail(err)
		return true
	}
	return refusal.isTemporary()
}

// show sends the parts of a moment that the viewer does not have. It returns false if the viewer has gone.
func (s *stream) show(now moment) (bool, error) {
	trouble := now.trouble
	if s.failed {
		trouble = noReview
	}
	if now.hub != nil && !s.failed && (s.sent != s.view || trouble == "" && (s.generation < now.generation || s.trouble != "")) {
		current, err := s.view.at(now)
		if err != nil {
			return false, err
		}
		s.generation = current.generation
		if s.sent != s.view || s.trouble != "" || s.version != current.version || time.Since(s.sentAt) >= refreshAfter {
			if !s.send(current.overview) {
				return false, nil
			}
			s.sent, s.version, s.sentAt, s.trouble = s.view, current.version, time.Now(), ""
		}
	}
	if trouble == s.trouble {
		return true, nil
	}
	encoded, err := event("trouble", trouble)
	if err != nil {
		return false, err
	}
	s.trouble = trouble
	return s.send(encoded), nil
}

// wait waits for some time. It returns false if the viewer has gone.
func (s *stream) wait(limit time.Duration) bool {
	select {
	case <-s.request.Context().Done():
		return false
	case <-time.After(limit):
		return true
	}
}

// send sends a part of the stream. It returns false if the viewer has gone.
func (s *stream) send(part []byte) bool {
	if err := s.writer.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return false
	}
	if _, err := s.response.Write(part); err != nil {
		return false
	}
	return s.writer.Flush() == nil
}
