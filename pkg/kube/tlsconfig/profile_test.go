package tlsconfig

import (
	"context"
	"crypto/tls"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

const namespace = "interlock-system"

func profile(data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "ocm-tls-profile"}, Data: data}
}

func TestAProfileOnlyTightens(t *testing.T) {
	for name, test := range map[string]struct {
		data     map[string]string
		min, max uint16
		ciphers  []uint16
		want     string
	}{
		"no profile":   {min: tls.VersionTLS12, ciphers: ciphers},
		"an older TLS": {data: map[string]string{"minTLSVersion": "VersionTLS10"}, min: tls.VersionTLS12, ciphers: ciphers},
		"only TLS 1.3": {
			data: map[string]string{"minTLSVersion": "VersionTLS13"}, min: tls.VersionTLS13, max: tls.VersionTLS13, ciphers: ciphers,
		},
		"fewer ciphers": {
			data: map[string]string{"cipherSuites": "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_RSA_WITH_AES_128_GCM_SHA256"},
			min:  tls.VersionTLS12, ciphers: []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256},
		},
		"only weak ciphers": {
			data: map[string]string{"cipherSuites": "TLS_RSA_WITH_AES_128_GCM_SHA256"},
			want: `cipherSuites="TLS_RSA_WITH_AES_128_GCM_SHA256"`,
		},
		"an unknown TLS": {data: map[string]string{"minTLSVersion": "1.3"}, want: "interlock-system/ocm-tls-profile: invalid minTLSVersion"},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset()
			if test.data != nil {
				client = fake.NewClientset(profile(test.data))
			}
			read, _, err := watch(t.Context(), client, namespace)
			if test.want != "" {
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("error %v does not say %q", err, test.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			config := &tls.Config{NextProtos: []string{"h2"}}
			read.Apply(config)
			if config.MinVersion != test.min || config.MaxVersion != test.max || !slices.Equal(config.CipherSuites, test.ciphers) ||
				!slices.Equal(config.NextProtos, []string{"http/1.1"}) {
				t.Errorf("versions %x to %x, ciphers %v, protocols %v", config.MinVersion, config.MaxVersion, config.CipherSuites, config.NextProtos)
			}
		})
	}
}

func TestAChangeOfTheProfileEndsTheContext(t *testing.T) {
	client := fake.NewClientset(profile(map[string]string{"minTLSVersion": "VersionTLS12"}))
	_, ctx, err := watch(t.Context(), client, namespace)
	if err != nil {
		t.Fatal(err)
	}
	if ctx.Err() != nil {
		t.Error("the context has ended without a change")
	}
	changed := profile(map[string]string{"minTLSVersion": "VersionTLS13"})
	if _, err := client.CoreV1().ConfigMaps(namespace).Update(t.Context(), changed, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ctx.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("the context has not ended")
	}
	if !errors.Is(context.Cause(ctx), ErrProfileChanged) {
		t.Errorf("cause %v", context.Cause(ctx))
	}
}

// TestWithoutTheRightToReadTheProfileTheDefaultCounts tests a process that may get the profile, and may not list it: it must not wait.
func TestWithoutTheRightToReadTheProfileTheDefaultCounts(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("list", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(corev1.Resource("configmaps"), "ocm-tls-profile", errors.New("no right"))
	})
	read, ctx, err := watch(t.Context(), client, namespace)
	if err != nil || ctx.Err() != nil || read.minVersion != 0 {
		t.Errorf("profile %v, error %v", read, err)
	}
}

// TestAClusterThatDoesNotRespondDelaysNothing tests that a process starts with the default, and ends once there is a profile.
func TestAClusterThatDoesNotRespondDelaysNothing(t *testing.T) {
	for name, stored := range map[string][]runtime.Object{
		"a profile": {profile(map[string]string{"minTLSVersion": "VersionTLS13"})}, "no profile": nil,
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset(stored...)
			var responds atomic.Bool
			fail := func(clienttesting.Action) (bool, runtime.Object, error) {
				return !responds.Load(), nil, errors.New("connection refused")
			}
			client.PrependReactor("list", "configmaps", fail)
			read, ctx, err := watch(t.Context(), client, namespace)
			if err != nil || ctx.Err() != nil || read.minVersion != 0 {
				t.Fatalf("profile %v, error %v", read, err)
			}
			responds.Store(true)
			if stored == nil {
				stored := profile(map[string]string{"minTLSVersion": "VersionTLS13"})
				if _, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), stored, metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Second):
				t.Fatal("the context has not ended")
			}
			if !errors.Is(context.Cause(ctx), ErrProfileChanged) {
				t.Errorf("cause %v", context.Cause(ctx))
			}
		})
	}
}
