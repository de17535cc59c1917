package dependent_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"k8s.io/client-go/rest"
	"open-cluster-management.io/addon-framework/pkg/addonmanager"
	"open-cluster-management.io/addon-framework/pkg/agent"

	"open-cluster-management.io/interlock/pkg/author/dependent"
)

// The hub manager of an add-on differs only in the line with Wrap.
func ExampleWrap() {
	run := func(ctx context.Context, config *rest.Config, gateway agent.AgentAddon) error {
		hub, err := dependent.NewHub(config)
		if err != nil {
			return err
		}
		manager, err := addonmanager.New(config)
		if err != nil {
			return err
		}
		if err := manager.AddAgent(dependent.Wrap(gateway, dependent.Ordered(hub))); err != nil {
			return err
		}
		if err := manager.Start(ctx); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	config, err := rest.InClusterConfig()
	if err == nil {
		err = run(ctx, config, nil) // your add-on in the place of nil
	}
	fmt.Println(err)
	// Output: unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined
}
