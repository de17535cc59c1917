package tlsconfig

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	sdktls "open-cluster-management.io/sdk-go/pkg/tls"
)

// Profile has the limits that Open Cluster Management sets for the TLS of servers on a cluster. It can only tighten
// Restrict. The zero value changes nothing.
type Profile struct {
	minVersion uint16
	// ciphers is empty if the profile names none.
	ciphers []uint16
}

// ErrProfileChanged is the cause of the end of the context that Watch returns.
var ErrProfileChanged = errors.New("the TLS profile of Open Cluster Management has changed")

// responseTime is the time for the cluster to respond. A liveness probe must not end a process that waits longer.
const responseTime = 5 * time.Second

// Watch reads the profile in the ConfigMap ocm-tls-profile of a namespace. The context ends when the profile changes: as in
// OCM's own components, the process is to stop then, and its Deployment starts it again. Without the right to read the
// ConfigMap, or without it, the profile changes nothing. If the cluster does not respond, the profile changes nothing at first,
// and the context ends once there is one: the process has to serve its probes meanwhile.
func Watch(ctx context.Context, config *rest.Config, namespace string) (Profile, context.Context, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return Profile{}, nil, fmt.Errorf("create client of the TLS profile: %w", err)
	}
	return watch(ctx, client, namespace)
}

func watch(ctx context.Context, client kubernetes.Interface, namespace string) (Profile, context.Context, error) {
	name := klog.KRef(namespace, sdktls.ConfigMapName)
	ctx, cancel := context.WithCancelCause(ctx)
	changed := func() {
		klog.FromContext(ctx).Info("The TLS profile has changed; stopping, to be started again with it", "configMap", name)
		cancel(ErrProfileChanged)
	}
	// The library waits for a cluster that does not respond, and would wait for the right to list too.
	switch err := exists(ctx, client, namespace); {
	case apierrors.IsForbidden(err):
		klog.FromContext(ctx).Info("No right to read the TLS profile, so the default counts", "configMap", name)
		return Profile{}, ctx, nil
	case err != nil && !apierrors.IsNotFound(err):
		klog.FromContext(ctx).Info("The TLS profile cannot be read yet, so the default counts until then", "configMap", name, "error", err.Error())
		go watchLater(ctx, client, namespace, changed)
		return Profile{}, ctx, nil
	}
	config, err := sdktls.StartTLSConfigMapWatcher(ctx, client, namespace, changed)
	if ctx.Err() != nil { // it is to stop before the cluster has responded
		return Profile{}, ctx, nil //nolint:nilerr // the end is no failure
	}
	if err != nil {
		cancel(err)
		return Profile{}, nil, fmt.Errorf("TLS profile in the ConfigMap %s: %w", name, err)
	}
	profile, err := newProfile(config)
	if err != nil {
		cancel(err)
		return Profile{}, nil, fmt.Errorf("TLS profile in the ConfigMap %s: %w", name, err)
	}
	return profile, ctx, nil
}

// exists returns an error unless there is a profile. It lists as the library does, so that it needs the same right.
func exists(ctx context.Context, client kubernetes.Interface, namespace string) error {
	ctx, cancel := context.WithTimeout(ctx, responseTime)
	defer cancel()
	selector := fields.OneTermEqualSelector(metav1.ObjectNameField, sdktls.ConfigMapName).String()
	profiles, err := client.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{FieldSelector: selector})
	if err == nil && len(profiles.Items) == 0 {
		return apierrors.NewNotFound(corev1.Resource("configmaps"), sdktls.ConfigMapName)
	}
	return err
}

// watchLater waits until the cluster responds, and watches the profile from then on. A profile that is there by then is a change.
func watchLater(ctx context.Context, client kubernetes.Interface, namespace string, changed func()) {
	_, _ = sdktls.StartTLSConfigMapWatcher(ctx, client, namespace, changed) // the next start reports a wrong profile
	if ctx.Err() == nil && exists(ctx, client, namespace) == nil {
		changed()
	}
}

func newProfile(config *sdktls.TLSConfig) (Profile, error) {
	profile := Profile{minVersion: config.MinVersion}
	for _, cipher := range config.CipherSuites {
		if slices.Contains(ciphers, cipher) {
			profile.ciphers = append(profile.ciphers, cipher)
		}
	}
	if len(config.CipherSuites) > 0 && len(profile.ciphers) == 0 && config.MinVersion < tls.VersionTLS13 {
		return Profile{}, fmt.Errorf("%s=%q: none of them has forward secrecy and authenticated encryption; name one of %s",
			sdktls.ConfigMapKeyCipherSuites, sdktls.CipherSuitesToString(config.CipherSuites), sdktls.CipherSuitesToString(ciphers))
	}
	return profile, nil
}

// Apply restricts the TLS of a server, to the profile where it is tighter.
func (p Profile) Apply(config *tls.Config) {
	Restrict(config)
	tightened := &sdktls.TLSConfig{MinVersion: max(config.MinVersion, p.minVersion), CipherSuites: p.ciphers}
	sdktls.ConfigToFunc(tightened)(config)
}
