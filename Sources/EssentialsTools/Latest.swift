/// A value that stays until it is read or a newer one replaces it.
package struct LatestValue<Element: Sendable>: MailboxContents {
    fileprivate var value: Element?

    package mutating func take() -> Element? { value.take() }
}

/// Passes the newest value to one reader at a time. Unread values are replaced, so values do not pile up.
package typealias Latest<Value: Sendable> = Mailbox<LatestValue<Value>>

extension Mailbox {
    /// Creates a mailbox for the newest value.
    ///
    /// - Parameter value: The first value; `nil` means that the first reader waits.
    package convenience init<Value>(_ value: Value? = nil) where Contents == LatestValue<Value> {
        self.init(LatestValue(value: value))
    }

    /// Replaces the value.
    package func put<Value>(_ value: Value) where Contents == LatestValue<Value> {
        // The replaced value is released outside the lock.
        _ = change { contents in
            defer { contents.value = value }
            return contents.value
        }
    }
}
