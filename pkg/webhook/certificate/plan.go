package certificate

import (
	"bytes"
	"crypto/x509"
	"time"
)

// backdated is how far before its making a certificate becomes valid, for
// clocks that are behind.
const backdated = time.Hour

// Lifetimes say how long certificates live, and when they are renewed.
type Lifetimes struct {
	Authority   time.Duration
	Certificate time.Duration
	// RenewBefore is how long before its end either of them is renewed.
	RenewBefore time.Duration
	// Overlap is how long a new authority is only trusted, beside the old one,
	// before it signs what is served. The old one is trusted for as long again.
	Overlap time.Duration
}

// DefaultLifetimes leave a week for a new authority to reach all who trust it.
func DefaultLifetimes() Lifetimes {
	const day = 24 * time.Hour
	return Lifetimes{Authority: 10 * 365 * day, Certificate: 365 * day, RenewBefore: 90 * day, Overlap: 7 * day}
}

// step is what is to be done next.
type step string

const (
	// rest: nothing, for some time.
	rest step = "rest"
	// introduce: make a new authority, trusted beside the others.
	introduce step = "introduce"
	// issue: make a new certificate, signed by the newest authority.
	issue step = "issue"
	// retire: trust the newest authority alone.
	retire step = "retire"
)

// plan decides what is to be done at the time now, or for how long nothing is.
func (l Lifetimes) plan(of keys, now time.Time) (step, time.Duration) {
	if of.authority == nil || l.due(of.authority.Cert, now) <= 0 {
		return introduce, 0
	}
	if of.serving == nil {
		return issue, 0
	}
	made := of.authority.Cert.NotBefore.Add(backdated)
	if !bytes.Equal(of.serving.AuthorityKeyId, of.authority.Cert.SubjectKeyId) {
		// What is served must not end meanwhile, after a long time without us.
		last := of.serving.NotAfter.Add(-l.Overlap / 10)
		return until(min(made.Add(l.Overlap).Sub(now), last.Sub(now)), issue)
	}
	wait := min(l.due(of.authority.Cert, now), l.due(of.serving, now))
	if wait <= 0 {
		return issue, 0
	}
	if len(of.trusted) > 1 {
		next, left := until(made.Add(2*l.Overlap).Sub(now), retire)
		return next, min(left, wait)
	}
	return rest, wait
}

func until(left time.Duration, then step) (step, time.Duration) {
	if left > 0 {
		return rest, left
	}
	return then, 0
}

// due returns how long it is until a certificate is to be renewed.
func (l Lifetimes) due(certificate *x509.Certificate, now time.Time) time.Duration {
	return certificate.NotAfter.Add(-l.RenewBefore).Sub(now)
}
