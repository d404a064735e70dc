import EssentialsHTTP

/// What a ``ResourceSlot`` shows: the present element, then each that differs from the one before.
///
/// ```swift
/// for await element in slot.elements { show(element) }
/// ```
///
/// A reader that is slower than the changes finds only the newest element. There can be any number of readers. The
/// sequence ends when the calling task is cancelled, because another resource can be assigned at any time, and never
/// throws. Its reader holds the slot.
public struct ResourceSlotElements<Content: Sendable>: AsyncSequence, Sendable {
    /// An element.
    public typealias Element = ResourceSlotElement<Content>
    /// The sequence never fails.
    public typealias Failure = Never

    let slot: ResourceSlot<Content>

    /// Begins with the present element.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: SlotReader(slot)) }

    /// Reads the elements.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let reader: SlotReader<Content>
        private var last: SlotPosition<Content>?

        fileprivate init(reader: SlotReader<Content>) { self.reader = reader }

        /// The next element; `nil` at the end.
        public mutating func next() async -> Element? { await next(isolation: #isolation) }

        /// The next element; `nil` at the end. A `for` loop calls this method.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            while await reader.signal.next() {
                let position = reader.slot.position
                if let last, position.isSame(as: last) { continue }
                last = position
                return position.element
            }
            return nil
        }
    }
}

/// The place of one reader of a slot.
private final class SlotReader<Content: Sendable>: Sendable {
    let slot: ResourceSlot<Content>
    let signal = ChangeSignal()
    private let number: UInt64
    #if DEBUG
        private let mark = LiveMark(.reader)
    #endif

    init(_ slot: ResourceSlot<Content>) {
        self.slot = slot
        number = slot.signals.add(signal)
    }

    deinit { slot.signals.remove(number) }
}
