# SPDX-License-Identifier: MIT OR Apache-2.0
"""Loops in pairs: ratios within a round, and how sure their median is."""

import random
import unittest

from harness import pairs


class Intervals(unittest.TestCase):
    def test_it_is_that_of_the_sign_test(self):
        # From a table of binomial intervals of the median.
        for count, place, confidence in ((6, 0, 0.9688), (11, 1, 0.9883), (25, 7, 0.9567), (41, 13, 0.9725)):
            low, high, sure = pairs.interval([float(number) for number in range(count)])
            self.assertEqual((low, high), (place, count - 1 - place), count)
            self.assertAlmostEqual(sure, confidence, 4)

    def test_too_few_say_how_little_they_are_sure_of(self):
        self.assertEqual(pairs.interval([1.0, 3.0, 2.0]), (1.0, 3.0, 0.75))
        self.assertEqual(pairs.interval([1.0]), (1.0, 1.0, 0.0))


class Ratios(unittest.TestCase):
    def test_what_slows_a_round_slows_both(self):
        # Of three per cent, in rounds that take from one to ten times as long.
        slow = [1.0, 10.0, 2.0, 5.0, 1.0, 3.0]
        found = pairs.compared("queue", "stack", {"queue": [1.03 * time for time in slow], "stack": slow})
        self.assertEqual((found["median"], found["low"], found["high"]), (1.03, 1.03, 1.03))
        self.assertEqual(found["above"], 6)

    def test_twenty_five_rounds_see_five_per_cent_through_ten_of_noise(self):
        noise = random.Random(1)
        seen = wrong = 0
        for _ in range(200):
            times = {loop: [cost * noise.gauss(1, 0.05) for _ in range(25)]
                     for loop, cost in (("recursion", 1.0), ("queue", 1.05), ("stack", 1.0))}
            seen += pairs.compared("queue", "recursion", times)["low"] > 1
            alike = pairs.compared("stack", "recursion", times)
            wrong += not alike["low"] <= 1 <= alike["high"]
        self.assertGreater(seen, 150)
        self.assertLess(wrong, 20)


if __name__ == "__main__":
    unittest.main()
