package certificate

import (
	"bytes"
	"crypto/x509"
	"time"
)

// backdated is how long before its creation a certificate becomes valid, for clients
// whose clocks are behind.
const backdated = time.Hour

// Lifetimes configure how long certificates are valid, and when they are renewed.
type Lifetimes struct {
	Authority   time.Duration
	Certificate time.Duration
	// RenewBefore is how long before its expiry a CA or a certificate is renewed.
	RenewBefore time.Duration
	// Overlap is how long clients trust a new CA before it signs certificates. After
	// that, they trust the old CA for the same time.
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

// plan returns the next step, and how long to rest if it is not due yet.
func (l Lifetimes) plan(content keys, currentTime time.Time) (step, time.Duration) {
	if content.authority == nil || l.untilRenewal(content.authority.Cert, currentTime) <= 0 {
		return introduce, 0
	}
	if content.serving == nil {
		return issue, 0
	}
	created := content.authority.Cert.NotBefore.Add(backdated)
	if !bytes.Equal(content.serving.AuthorityKeyId, content.authority.Cert.SubjectKeyId) {
		// After a long time without a running webhook, the old certificate must not
		// expire during the overlap.
		last := content.serving.NotAfter.Add(-l.Overlap / 10)
		return restBefore(issue, min(created.Add(l.Overlap).Sub(currentTime), last.Sub(currentTime)))
	}
	wait := min(l.untilRenewal(content.authority.Cert, currentTime), l.untilRenewal(content.serving, currentTime))
	if wait <= 0 {
		return issue, 0
	}
	if len(content.trusted) > 1 {
		next, remaining := restBefore(retire, created.Add(2*l.Overlap).Sub(currentTime))
		return next, min(remaining, wait)
	}
	return rest, wait
}

// restBefore returns the step, or a rest if time remains before it.
func restBefore(next step, remaining time.Duration) (step, time.Duration) {
	if remaining > 0 {
		return rest, remaining
	}
	return next, 0
}

// untilRenewal returns the time until a certificate must be renewed.
func (l Lifetimes) untilRenewal(certificate *x509.Certificate, currentTime time.Time) time.Duration {
	return certificate.NotAfter.Add(-l.RenewBefore).Sub(currentTime)
}
