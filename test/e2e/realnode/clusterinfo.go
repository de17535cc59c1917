//go:build linux

package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// publishAddress writes the API server's address and CA to the ConfigMap that kubeadm uses, because clusteradm reads
// them there.
func publishAddress(ctx context.Context, client kubernetes.Interface, config *rest.Config) error {
	public := clientcmdapi.NewConfig()
	public.Clusters[""] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	content, err := clientcmd.Write(*public)
	if err != nil {
		return err
	}
	info := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespacePublic, Name: "cluster-info"},
		Data:       map[string]string{"kubeconfig": string(content)},
	}
	if _, err := client.CoreV1().ConfigMaps(info.Namespace).Create(ctx, info, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("publish the address of the API server: %w", err)
	}
	return nil
}
