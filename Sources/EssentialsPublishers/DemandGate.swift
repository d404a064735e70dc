#if canImport(Combine) || OpenCombine
    import EssentialsTools

    /// How many values a subscriber still wants. It is a value without a lock.
    struct DemandCounter: Sendable {
        /// The number of values; `Int.max` means no limit.
        private(set) var remaining = 0

        /// Adds to the demand.
        ///
        /// - Parameter count: The number of values; `nil` means no limit. A negative number counts as 0.
        mutating func add(_ count: Int?) {
            guard let count else { return remaining = .max }
            let (sum, overflows) = remaining.addingReportingOverflow(max(count, 0))
            remaining = overflows ? .max : sum
        }

        /// Takes one value's demand. Returns `false` if there is none.
        mutating func take() -> Bool {
            guard remaining > 0 else { return false }
            if remaining < .max { remaining -= 1 }
            return true
        }
    }

    /// Lets the one task of a subscription wait for demand.
    final class DemandGate: Sendable {
        private struct Open: MailboxContents {
            var demand = DemandCounter()
            var isCancelled = false

            mutating func take() -> Void? { !isCancelled && demand.take() ? () : nil }
        }

        private let demand = Mailbox(Open())

        /// Adds to the demand.
        func add(_ count: Int?) { demand.change { $0.demand.add(count) } }

        /// Waits until there is demand for one value, and takes it.
        ///
        /// - Returns: `false` after ``cancel()``.
        func take() async -> Bool { await demand.next() != nil }

        /// Whether the subscriber has cancelled.
        var isCancelled: Bool { demand.change { $0.isCancelled } }

        func cancel() {
            demand.change { $0.isCancelled = true }
            demand.finish()
        }
    }
#endif
