package consoleserver

import (
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/utils/clock"
)

// renewAfter is the age at which the certificate is made anew. It is valid for a year.
const renewAfter = 180 * 24 * time.Hour

// selfSigned makes a certificate that is kept in memory only. Browsers do not trust it.
type selfSigned struct {
	hosts []string
	clock clock.PassiveClock

	mutex  sync.Mutex
	served *tls.Certificate
	made   time.Time
}

// certificate returns the current certificate. It implements the hook tls.Config.GetCertificate.
func (s *selfSigned) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	now := s.clock.Now()
	if s.served != nil && now.Sub(s.made) < renewAfter {
		return s.served, nil
	}
	var names []string
	addresses := []net.IP{}
	for _, host := range s.hosts {
		host = withoutPort(host)
		if address := net.ParseIP(host); address != nil {
			addresses = append(addresses, address)
		} else {
			names = append(names, host)
		}
	}
	certificate, key, err := cert.GenerateSelfSignedCertKey("interlock-console", addresses, names)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	s.served, s.made = &pair, now
	return s.served, nil
}
