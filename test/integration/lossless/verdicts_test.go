package lossless

import (
	"context"
	"fmt"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// moves are the changes of Degraded since forgetMoves.
var moves struct {
	sync.Mutex
	list []string
}

// watchVerdicts records each change of Degraded on the managed cluster until the suite ends.
func watchVerdicts(ctx context.Context, config *rest.Config) {
	GinkgoHelper()
	dynamicClient, err := dynamic.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(dynamicClient, 0, cluster, nil)
	informer := factory.ForResource(addonv1alpha1.GroupVersion.WithResource("managedclusteraddons")).Informer()
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(oldObject, newObject any) {
		oldText, newText := degraded(oldObject), degraded(newObject)
		if oldText != newText {
			moves.Lock()
			defer moves.Unlock()
			moves.list = append(moves.list, fmt.Sprintf("%s %s: %q became %q",
				time.Now().UTC().Format("15:04:05.000"), newObject.(*unstructured.Unstructured).GetName(), oldText, newText))
		}
	}})
	Expect(err).NotTo(HaveOccurred())
	stop := make(chan struct{})
	DeferCleanup(func() { close(stop); factory.Shutdown() })
	factory.Start(stop)
	Expect(cache.WaitForCacheSync(ctx.Done(), informer.HasSynced)).To(BeTrue())
}

// degraded returns status, reason and message of the condition Degraded.
func degraded(object any) string {
	conditions, _, _ := unstructured.NestedSlice(object.(*unstructured.Unstructured).Object, "status", "conditions")
	for _, condition := range conditions {
		if entry := condition.(map[string]any); entry["type"] == "Degraded" {
			return fmt.Sprintf("%v/%v: %v", entry["status"], entry["reason"], entry["message"])
		}
	}
	return ""
}

func forgetMoves() {
	moves.Lock()
	defer moves.Unlock()
	moves.list = nil
}

func movedVerdicts() []string {
	moves.Lock()
	defer moves.Unlock()
	return moves.list
}
