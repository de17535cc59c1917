package status

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/follow"
	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/cli/table"
)

// shown are the rows that a watch has printed, or would have.
type shown struct {
	*options
	table *table.Table
	rows  map[string]Row // by namespace and name
}

// runWatch lists add-ons, and again each that changes, until the context ends.
func (o *options) runWatch(ctx context.Context) error {
	if _, err := o.readHub(ctx); err != nil { // says what is wrong with a name or a right
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

// follow shows what changes. It returns an error when the context ends, too.
func (o *options) follow(ctx context.Context, hub client.WithWatch) error {
	s := &shown{options: o, table: o.flags.Table(o.Out, Heading), rows: map[string]Row{}}
	s.table.Spare = o.spare()
	all := []follow.Watched{{List: &addonv1alpha1.ManagedClusterAddOnList{}, Namespace: o.namespace, Options: o.named()}}
	watched, err := follow.Start(ctx, hub, all, follow.Failures)
	if err != nil {
		return err
	}
	for {
		var list addonv1alpha1.ManagedClusterAddOnList
		if err := watched.List(ctx, &list, client.InNamespace(o.namespace)); err != nil {
			return err
		}
		if err := s.replace(Rows(list.Items)); err != nil {
			return err
		}
		if err := watched.Next(ctx); err != nil {
			return err
		}
	}
}

// replace shows what differs from the rows before, and what is no longer there.
func (s *shown) replace(rows []Row) error {
	gone := s.rows
	s.rows = map[string]Row{}
	var changed []Row
	for _, row := range rows {
		if !s.knows(row) {
			continue
		}
		key := row.Namespace + "/" + row.Name
		if before, known := gone[key]; s.differs(before, row, known) {
			changed = append(changed, row)
		}
		delete(gone, key)
		s.rows[key] = row
	}
	for _, row := range gone {
		if s.has(row) {
			changed = append(changed, Row{Namespace: row.Namespace, Name: row.Name, Message: "deleted"})
		}
	}
	return s.show(changed)
}

// differs reports whether a row is to be shown: also one that the filter no longer keeps.
func (s *shown) differs(before, row Row, known bool) bool {
	return s.has(row) && (!known || before != row) || known && before != row && s.has(before)
}

func (s *shown) show(rows []Row) error {
	if len(rows) == 0 {
		return nil
	}
	if s.flags.Is(output.Name) {
		return printNames(s.Out, rows)
	}
	cells := make([][]string, 0, len(rows))
	for _, row := range rows {
		cells = append(cells, row.Cells(time.Now()))
		if row.Waiting() {
			cells = append(cells, row.WaitsCells(time.Now()))
		}
	}
	return s.table.Print(cells)
}
