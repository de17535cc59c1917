package ocmstandin

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"
)

// The CRDs that OCM installs on a hub beside those of test/testenv, in the
// version of the api module that the tests are built with.
var hubCRDs = []string{
	"addon/v1beta1/0000_02_addon.open-cluster-management.io_addondeploymentconfigs.crd.yaml",
	"work/v1/0000_00_work.open-cluster-management.io_manifestworks.crd.yaml",
}

// InstallCRDs installs OCM's CRDs for configurations and works.
func InstallCRDs(ctx context.Context, hub *rest.Config) error {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "open-cluster-management.io/api").Output()
	if err != nil {
		return fmt.Errorf("find OCM's api module: %w", err)
	}
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, path := range hubCRDs {
		content, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), path))
		if err != nil {
			return err
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(content, crd); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		crds = append(crds, crd)
	}
	_, err = envtest.InstallCRDs(hub, envtest.CRDInstallOptions{CRDs: crds})
	return err
}
