//go:build e2e

package e2e

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// When a spec fails, the logs of pods and the add-ons are written to the folder that E2E_LOGS names. They would be
// lost with the clusters.
var _ = ReportAfterEach(keepEvidence)

// The clusters still exist after BeforeSuite has failed.
var _ = ReportAfterSuite("logs of what BeforeSuite did", func(ctx SpecContext, report Report) {
	for _, spec := range report.SpecReports {
		if spec.LeafNodeType == types.NodeTypeBeforeSuite {
			keepEvidence(ctx, spec)
		}
	}
})

func keepEvidence(ctx SpecContext, report SpecReport) {
	if !report.Failed() || hub == nil {
		return
	}
	folder := filepath.Join(cmp.Or(os.Getenv("E2E_LOGS"), "e2e-logs"), fmt.Sprintf("line-%d", report.LineNumber()))
	configs := map[string]*rest.Config{"hub": hubConfig}
	for name, cluster := range managedClusters {
		configs[name] = cluster.config
	}
	for name, config := range configs {
		if err := keepLogs(ctx, config, filepath.Join(folder, name)); err != nil {
			GinkgoWriter.Printf("keep the logs of %s: %v\n", name, err)
		}
	}
	var addOns addonv1alpha1.ManagedClusterAddOnList
	if err := hub.List(ctx, &addOns); err != nil {
		GinkgoWriter.Println("list add-ons:", err)
		return
	}
	if content, err := yaml.Marshal(addOns); err == nil {
		_ = os.WriteFile(filepath.Join(folder, "managedclusteraddons.yaml"), content, 0o600) // the spec has failed already
	}
	GinkgoWriter.Println("logs of all pods are in", folder)
}

func keepLogs(ctx context.Context, config *rest.Config, folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	cluster, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	pods, err := cluster.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, pod := range pods.Items {
		status, err := yaml.Marshal(pod.Status)
		if err != nil {
			return err
		}
		log, err := cluster.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{}).DoRaw(ctx)
		if err != nil {
			log = []byte(err.Error()) // the pod has not started
		}
		file := filepath.Join(folder, pod.Namespace+"_"+pod.Name)
		if err := os.WriteFile(file+".log", append(log, "\n---\n"+string(status)...), 0o600); err != nil {
			return err
		}
	}
	return nil
}
