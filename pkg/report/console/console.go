// Package console serves the overview of a fleet to browsers, and pushes its changes. It has no client of a hub: another component reads the
// hub once for all viewers, and updates the console. Each viewer has a view, which may leave out parts of the fleet.
package console

import (
	"crypto/subtle"
	"net/http"
	"slices"

	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/kube/reviews"
	"open-cluster-management.io/interlock/pkg/report/overview"
)

// Console shows a whole fleet to all viewers that have a token.
type Console struct {
	*Handler

	fleet *Fleet
	view  *View
}

// New returns a console without an overview. Viewers need the token, and the host in their requests must be one of hosts. That check keeps
// other web sites from the console, whose names could be made to resolve to its address.
func New(token string, hosts ...string) *Console {
	fleet := NewFleet()
	view := NewView(fleet, nil)
	handler := NewHandler(secret{token, view}, func(host string) bool { return slices.Contains(hosts, host) })
	return &Console{handler, fleet, view}
}

// Update shows another state of the fleet to all viewers. The options are inputs of each overview.
func (c *Console) Update(hub *snapshot.Snapshot, options func(*snapshot.Snapshot) overview.Options) {
	c.fleet.Update(hub, options)
}

// Prepare computes the overview of the last update before a viewer needs it.
func (c *Console) Prepare() error {
	_, err := c.view.at(c.fleet.moment())
	return err
}

// SetTrouble shows all viewers why the overview is not current.
func (c *Console) SetTrouble(reason string) { c.fleet.SetTrouble(reason) }

// secret admits the viewers with a token to a view.
type secret struct {
	token string
	view  *View
}

// Admit implements Viewers. Its comparison takes the same time for each wrong token.
func (s secret) Admit(r *http.Request) (Admission, error) {
	if subtle.ConstantTimeCompare([]byte(reviews.BearerToken(r)), []byte(s.token)) != 1 {
		return Admission{}, &Refusal{
			Status: http.StatusUnauthorized, Text: "the token is missing or wrong: open the address that the program has printed", Challenge: "Bearer",
		}
	}
	return Admission{View: s.view}, nil
}
