// Package certificate brings the serving certificate from its Secret to the
// files that the webhook server reads. A Secret that is mounted arrives up to
// a minute later: for that long a replica would serve what the API server no
// longer trusts.
package certificate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
)

// Mirror writes the certificate and key of a Secret to files of the same names.
type Mirror struct {
	Reader client.Reader
	Key    types.NamespacedName
	Dir    string
}

// SetupWithManager lets the manager run the mirror on every replica.
func (m *Mirror) SetupWithManager(mgr ctrl.Manager) error {
	err := ctrl.NewControllerManagedBy(mgr).Named("certificate").For(&corev1.Secret{}).
		WithOptions(controller.Options{NeedLeaderElection: ptr.To(false), SkipNameValidation: ptr.To(true)}).
		Complete(m)
	if err != nil {
		return fmt.Errorf("set up the mirror of the certificate: %w", err)
	}
	return nil
}

// Reconcile implements reconcile.Reconciler.
func (m *Mirror) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	if request.NamespacedName != m.Key {
		return ctrl.Result{}, nil
	}
	var secret corev1.Secret
	if err := m.Reader.Get(ctx, m.Key, &secret); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	certificate, key := secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey]
	if len(certificate) == 0 || len(key) == 0 {
		return ctrl.Result{}, nil // not made yet
	}
	// The certificate last: the server reads both when it changes.
	return ctrl.Result{}, errors.Join(
		m.write(corev1.TLSPrivateKeyKey, key),
		m.write(corev1.TLSCertKey, certificate))
}

// write replaces a file at once, so that nobody reads half of it.
func (m *Mirror) write(name string, content []byte) error {
	path := filepath.Join(m.Dir, name)
	present, err := os.ReadFile(path)
	if err == nil && bytes.Equal(present, content) {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
