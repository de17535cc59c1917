package statuscmd

import (
	"context"
	"io"
	"reflect"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/cli/table"
	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/fleet/follow"
)

// watcher prints rows that change.
type watcher struct {
	*options
	table *table.Table
	rows  map[string]Row // the last state, by namespace and name
}

// refreshInterval is the longest time between two pages on a screen, because ages grow.
const refreshInterval = 30 * time.Second

// runWatch lists add-ons until the context ends. A screen shows the whole list again after each change, and other output has each
// change.
func (o *options) runWatch(ctx context.Context) error {
	if _, err := o.readHub(ctx); err != nil { // It checks names and rights first.
		return err
	}
	hub, host, err := o.source.ConnectToWatch()
	if err != nil {
		return err
	}
	if err := o.follow(ctx, hub); err != nil && ctx.Err() == nil {
		return source.HubError(err, host)
	}
	return nil
}

// follow prints changes. It also returns an error when the context ends.
func (o *options) follow(ctx context.Context, hub client.WithWatch) error {
	refresher := terminal.NewRefresher(o.Out)
	isScreen := terminal.ScreenOf(o.Out).Width > 0 && !o.flags.Is(output.Name)
	w := &watcher{options: o, table: o.flags.Table(o.Out, Heading), rows: map[string]Row{}}
	w.table.Spare = o.spareColumns()
	lists := []follow.Watched{{List: &addonv1alpha1.ManagedClusterAddOnList{}, Namespace: o.namespace, Options: o.listOptions()}}
	watch, err := follow.Start(ctx, hub, lists, follow.Failures)
	if err != nil {
		return err
	}
	for {
		var list addonv1alpha1.ManagedClusterAddOnList
		if err := watch.List(ctx, &list, client.InNamespace(o.namespace)); err != nil {
			return err
		}
		show := w.replace
		if isScreen {
			show = func(rows []Row) error { return o.refresh(refresher, rows, time.Now()) }
		}
		if err := show(Rows(list.Items)); err != nil {
			return err
		}
		if err := watch.NextWithin(ctx, refreshInterval); err != nil {
			return err
		}
	}
}

// refresh shows the rows in place of the last ones.
func (o *options) refresh(page *terminal.Refresher, rows []Row, now time.Time) error {
	rows = slices.DeleteFunc(rows, func(row Row) bool { return !o.isNamed(row) })
	kept := slices.DeleteFunc(slices.Clone(rows), func(row Row) bool { return !o.keeps(row) })
	return page.Show(kept, now, func(out io.Writer) error {
		onPage := *o
		onPage.Out, onPage.ErrOut = out, out
		return onPage.print(kept, len(rows), now)
	})
}

// replace replaces the last state. It prints the rows that have changed or were deleted.
func (w *watcher) replace(rows []Row) error {
	deleted := w.rows
	w.rows = map[string]Row{}
	var changed []Row
	for _, row := range rows {
		if !w.isNamed(row) {
			continue
		}
		key := row.Namespace + "/" + row.Name
		if last, ok := deleted[key]; w.isChange(last, row, ok) {
			changed = append(changed, row)
		}
		delete(deleted, key)
		w.rows[key] = row
	}
	for _, row := range deleted {
		if w.keeps(row) {
			changed = append(changed, Row{Namespace: row.Namespace, Name: row.Name, Message: "deleted"})
		}
	}
	return w.print(changed)
}

// isChange reports whether a row is printed. A changed row is also printed if the filter has kept its last state only. hasLast is
// whether there is a last state.
func (w *watcher) isChange(last, row Row, hasLast bool) bool {
	changed := hasLast && !reflect.DeepEqual(last, row)
	return w.keeps(row) && (!hasLast || changed) || changed && w.keeps(last)
}

func (w *watcher) print(rows []Row) error {
	if len(rows) == 0 {
		return nil
	}
	if w.flags.Is(output.Name) {
		return printNames(w.Out, rows)
	}
	cells := make([][]string, 0, len(rows))
	for _, row := range rows {
		cells = append(cells, row.Cells(time.Now()))
		if row.Waiting() {
			cells = append(cells, row.WaitsCells(time.Now()))
		}
	}
	return w.table.Print(cells)
}
