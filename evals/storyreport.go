package evals

import (
	"fmt"
	"slices"
	"strings"
)

// StoryTable is the scores as text: a row for each class, one for all stories of change
// and one for the controls. A story counts where it is right in both orders of arrival.
// Where the orders differ, the count of each follows in brackets: as it happened, then
// with the change first. Facts wrongly ended are those of the order that has more.
func StoryTable(scores []StoryScore) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%-24s %7s  %-14s %-14s %-14s %-14s\n",
		"class", "stories", "noticed", "wrongly ended", "first hit", "told")
	var classes []string
	for i := range scores {
		if c := scores[i].Story.Class; c != control && !slices.Contains(classes, c) {
			classes = append(classes, c)
		}
	}
	slices.Sort(classes)
	for _, c := range classes {
		storyRow(&out, c, scores, func(s *Story) bool { return s.Class == c })
	}
	storyRow(&out, "all changes", scores, func(s *Story) bool { return !s.control() })
	storyRow(&out, "controls", scores, (*Story).control)
	var lines []string
	for line := range strings.Lines(out.String()) {
		lines = append(lines, strings.TrimRight(line, " \n")+"\n")
	}
	return strings.Join(lines, "")
}

// storyRow writes the row of some of the stories; none if there are none.
func storyRow(out *strings.Builder, name string, scores []StoryScore, in func(*Story) bool) {
	stories, noticed := 0, false
	var sums [4]struct{ both, one, two int }
	for i := range scores {
		s := &scores[i]
		if !in(s.Story) {
			continue
		}
		stories++
		noticed = noticed || !s.Story.control()
		a, b := &s.Orders[0], &s.Orders[1]
		for j, right := range [][2]bool{{a.Noticed, b.Noticed}, {}, {a.FirstHit, b.FirstHit}, {a.Told, b.Told}} {
			sums[j].one += oneIf(right[0])
			sums[j].two += oneIf(right[1])
			sums[j].both += oneIf(right[0] && right[1])
		}
		sums[1].one += a.WronglyEnded
		sums[1].two += b.WronglyEnded
	}
	if stories == 0 {
		return
	}
	sums[1].both = max(sums[1].one, sums[1].two)
	var cells [4]string
	for j, s := range sums {
		cells[j] = fmt.Sprint(s.both)
		if s.one != s.both || s.two != s.both {
			cells[j] += fmt.Sprintf(" (%d, %d)", s.one, s.two)
		}
	}
	if !noticed {
		cells[0] = "-"
	}
	fmt.Fprintf(out, "%-24s %7d  %-14s %-14s %-14s %-14s\n", name, stories, cells[0], cells[1], cells[2], cells[3])
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Wrong says in words what is not right in either order, "" if all is.
func (s *StoryScore) Wrong() string {
	var out []string
	for i := range s.Orders {
		t := &s.Orders[i]
		var wrong []string
		if !t.Noticed && !s.Story.control() {
			wrong = append(wrong, "not noticed ("+t.Missed+")")
		}
		if t.WronglyEnded > 0 {
			wrong = append(wrong, fmt.Sprintf("%d wrongly ended", t.WronglyEnded))
		}
		if !t.FirstHit {
			wrong = append(wrong, "not the first hit")
		}
		if !t.Told {
			wrong = append(wrong, "not told")
		}
		if len(wrong) > 0 {
			out = append(out, [2]string{"as it happened", "change first"}[i]+": "+strings.Join(wrong, ", "))
		}
	}
	return strings.Join(out, "; ")
}
