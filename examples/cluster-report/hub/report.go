package hub

import (
	"context"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	accountsv1beta1 "open-cluster-management.io/managed-serviceaccount/apis/authentication/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// accountNamespace is the namespace in which managed-serviceaccount creates service accounts.
	accountNamespace = "open-cluster-management-agent-addon"
	// reportInterval is the time between two reports on a cluster.
	reportInterval = 5 * time.Minute
	// requestTimeout limits each request to a cluster, which may be unreachable.
	requestTimeout = 10 * time.Second
	validity       = 24 * time.Hour
)

// Reporter keeps a ConfigMap with a report in the namespace of every cluster
// that has the add-on. It reads the data from the managed cluster itself, as the
// service account that managed-serviceaccount creates there.
type Reporter struct {
	Hub client.Client
}

// Reconcile updates the report on one cluster.
func (r *Reporter) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	installed := &addonv1beta1.ManagedClusterAddOn{}
	if err := r.Hub.Get(ctx, request.NamespacedName, installed); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	// Available is False while managed-serviceaccount is not available, so this
	// code needs no other check of the dependency.
	if !installed.DeletionTimestamp.IsZero() ||
		!meta.IsStatusConditionTrue(installed.Status.Conditions, addonv1beta1.ManagedClusterAddOnConditionAvailable) {
		return reconcile.Result{}, nil
	}
	account, err := r.account(ctx, installed)
	if err != nil || account.Status.TokenSecretRef == nil {
		return reconcile.Result{}, err // a new token triggers this controller
	}
	login, err := r.login(ctx, installed.Namespace, account.Status.TokenSecretRef.Name)
	if err != nil {
		return reconcile.Result{}, err
	}
	report, err := readReport(ctx, login)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("ask cluster %s: %w", installed.Namespace, err)
	}
	return reconcile.Result{RequeueAfter: reportInterval}, r.write(ctx, installed, report)
}

// account requests a service account on the cluster from managed-serviceaccount.
func (r *Reporter) account(ctx context.Context, installed *addonv1beta1.ManagedClusterAddOn) (*accountsv1beta1.ManagedServiceAccount, error) {
	account := &accountsv1beta1.ManagedServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: installed.Namespace, Name: Name}}
	err := r.Hub.Get(ctx, client.ObjectKeyFromObject(account), account)
	if !apierrors.IsNotFound(err) {
		return account, err
	}
	account.Spec.Rotation = accountsv1beta1.ManagedServiceAccountRotation{Enabled: true, Validity: metav1.Duration{Duration: validity}}
	// Kubernetes deletes it with the add-on.
	if err := controllerutil.SetOwnerReference(installed, account, r.Hub.Scheme()); err != nil {
		return nil, err
	}
	if err := r.Hub.Create(ctx, account); err != nil {
		return nil, fmt.Errorf("create ManagedServiceAccount %s/%s: %w", account.Namespace, account.Name, err)
	}
	return account, nil
}

// login returns the configuration for a client of the cluster. The address comes from
// the ManagedCluster, token and CA from the Secret of managed-serviceaccount.
func (r *Reporter) login(ctx context.Context, cluster, secretName string) (*rest.Config, error) {
	managed := &clusterv1.ManagedCluster{}
	if err := r.Hub.Get(ctx, client.ObjectKey{Name: cluster}, managed); err != nil {
		return nil, fmt.Errorf("read ManagedCluster %s: %w", cluster, err)
	}
	if len(managed.Spec.ManagedClusterClientConfigs) == 0 {
		return nil, reconcile.TerminalError(fmt.Errorf("ManagedCluster %s: spec.managedClusterClientConfigs is empty: the hub has to know the cluster's address", cluster))
	}
	secret := &corev1.Secret{}
	if err := r.Hub.Get(ctx, client.ObjectKey{Namespace: cluster, Name: secretName}, secret); err != nil {
		return nil, fmt.Errorf("read the token for %s: %w", cluster, err)
	}
	return &rest.Config{
		Host:            managed.Spec.ManagedClusterClientConfigs[0].URL,
		BearerToken:     string(secret.Data[corev1.ServiceAccountTokenKey]),
		TLSClientConfig: rest.TLSClientConfig{CAData: secret.Data[corev1.ServiceAccountRootCAKey]},
		Timeout:         requestTimeout,
	}, nil
}

// readReport reads the data of the report from a cluster.
func readReport(ctx context.Context, login *rest.Config) (map[string]string, error) {
	cluster, err := kubernetes.NewForConfig(login)
	if err != nil {
		return nil, err
	}
	version, err := cluster.Discovery().ServerVersion()
	if err != nil {
		return nil, fmt.Errorf("read its version: %w", err)
	}
	namespaces, err := cluster.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list its namespaces: %w", err)
	}
	return map[string]string{"kubernetes": version.GitVersion, "namespaces": strconv.Itoa(len(namespaces.Items))}, nil
}

func (r *Reporter) write(ctx context.Context, installed *addonv1beta1.ManagedClusterAddOn, report map[string]string) error {
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: installed.Namespace, Name: Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Hub, kept, func() error {
		kept.Data = report
		return controllerutil.SetOwnerReference(installed, kept, r.Hub.Scheme())
	})
	if err != nil {
		return fmt.Errorf("write the report on %s: %w", installed.Namespace, err)
	}
	return nil
}
