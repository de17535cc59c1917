package webhook

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
)

// running is a manager that runs until it is stopped, or fails.
type running struct {
	ctrl.Manager
	failure chan error
}

func (m running) Start(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-m.failure:
		return err
	}
}

func TestItServesForSomeTimeAfterItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		manager := &draining{Manager: running{}, period: 5 * time.Second}
		ended := make(chan error)
		go func() { ended <- manager.Start(ctx) }()
		synctest.Wait()
		stop()
		stopped := time.Now()
		if err := <-ended; err != nil || time.Since(stopped) != 5*time.Second {
			t.Errorf("%v after %s", err, time.Since(stopped))
		}
	})
}

func TestAFailureEndsItAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		failure := errors.New("address in use")
		manager := &draining{Manager: running{failure: make(chan error)}, period: time.Hour}
		ended := make(chan error)
		go func() { ended <- manager.Start(ctx) }()
		stop()
		synctest.Wait()
		began := time.Now()
		manager.Manager.(running).failure <- failure
		if err := <-ended; !errors.Is(err, failure) || time.Since(began) > 0 {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

func TestConnectionsCloseWhileItIsStopping(t *testing.T) {
	manager := &draining{}
	server := httptest.NewServer(manager.closeConnections(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
	})))
	defer server.Close()
	for _, stopping := range []bool{false, true} {
		manager.stopping.Store(stopping)
		response, err := server.Client().Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusTeapot || response.Close != stopping {
			t.Errorf("stopping %v: response %s, closes the connection: %v", stopping, response.Status, response.Close)
		}
	}
}
