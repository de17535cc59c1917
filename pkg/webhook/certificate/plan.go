package certificate

import (
	"bytes"
	"crypto/x509"
	"time"
)

// backdated is how long before its creation a certificate is valid, for clocks
// that are behind.
const backdated = time.Hour

// Lifetimes say how long certificates are valid, and when they are renewed.
type Lifetimes struct {
	Authority   time.Duration
	Certificate time.Duration
	// RenewBefore is how long before it expires either of them is renewed.
	RenewBefore time.Duration
	// Overlap is how long a new CA is trusted beside the old one before it signs.
	// Then the old one stays trusted for the same time.
	Overlap time.Duration
}

// DefaultLifetimes give a new CA a week to reach all clients.
func DefaultLifetimes() Lifetimes {
	const day = 24 * time.Hour
	return Lifetimes{Authority: 10 * 365 * day, Certificate: 365 * day, RenewBefore: 90 * day, Overlap: 7 * day}
}

// step is the next change of the Secret.
type step string

const (
	// rest changes nothing.
	rest step = "rest"
	// introduce makes a new CA, trusted beside the others.
	introduce step = "introduce"
	// issue makes a new certificate, signed by the newest CA.
	issue step = "issue"
	// retire removes all CAs but the newest from the bundle.
	retire step = "retire"
)

// plan returns the step to take now, or how long to rest.
func (l Lifetimes) plan(of keys, now time.Time) (step, time.Duration) {
	if of.authority == nil || l.due(of.authority.Cert, now) <= 0 {
		return introduce, 0
	}
	if of.serving == nil {
		return issue, 0
	}
	made := of.authority.Cert.NotBefore.Add(backdated)
	if !bytes.Equal(of.serving.AuthorityKeyId, of.authority.Cert.SubjectKeyId) {
		// After a long time without a running webhook, the old certificate must not
		// expire during the overlap.
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

// due returns how long it is until a certificate must be renewed.
func (l Lifetimes) due(certificate *x509.Certificate, now time.Time) time.Duration {
	return certificate.NotAfter.Add(-l.RenewBefore).Sub(now)
}
