import EssentialsHTTP
public import EssentialsRequests
import EssentialsTools

/// A place that shows one resource at a time, such as the picture in a cell of a list.
///
/// ```swift
/// let slot = ResourceSlot<Picture>()
/// slot.resource = shop.service.resource("pictures", id)
/// for await element in slot.elements {
///     imageView.image = element.value(placeholder: .grey, alternative: .broken)
/// }
/// ```
///
/// Assigning a resource loads it if needed, and makes the slot its observer. The load of the previous resource is
/// cancelled 50 ms later, by the service's clock, unless that resource is then observed or a task waits for it. In the
/// meantime another slot can take it over. The same happens when the slot is released.
///
/// A slot can be used from any task and thread.
public final class ResourceSlot<Content: Sendable>: Sendable {
    private struct Assignment: Sendable {
        let resource: Resource<Content>
        /// The slot's number among the observers of the resource.
        let number: UInt64
    }

    /// The signals of the readers of the elements.
    private let signals = ChangeSignals()
    private let assignment = Mutex<Assignment?>(nil)

    /// Creates a slot.
    ///
    /// - Parameter resource: The first resource, if any. It is loaded if needed.
    public init(_ resource: Resource<Content>? = nil) {
        if let resource { self.resource = resource }
    }

    deinit { Self.leave(assignment.withLock { $0 }) }

    /// The resource that is shown. Assigning `nil` shows the placeholder.
    public var resource: Resource<Content>? {
        get { assignment.withLock { $0?.resource } }
        set {
            // The load begins before the resource is shown, so that readers do not see it without a load.
            let new = newValue.map { resource in
                // The view exists before the first change, so that each change has a snapshot for it.
                _ = resource.state
                let receiver = ClosureReceiver { [signals] _ in signals.raise() }
                let number = resource.core.add(receiver, resource.service)
                resource.startLoadIfNeeded()
                return Assignment(resource: resource, number: number)
            }
            let old = assignment.withLock { assignment in
                defer { assignment = new }
                return assignment
            }
            signals.raise()
            Self.leave(old)
        }
    }

    /// The current element.
    public var current: ResourceSlotElement<Content> { position.element }

    /// The elements to show: the current one, then each that differs from the previous one. Content that is in memory
    /// is in the first element.
    ///
    /// ```swift
    /// for await element in slot.elements { show(element) }
    /// ```
    ///
    /// A reader that is slower than the changes finds only the newest element. There can be any number of readers. The
    /// sequence ends when the calling task is cancelled, because another resource can be assigned at any time. Its
    /// reader holds the slot.
    public var elements: ValueSequence<ResourceSlotElement<Content>> {
        ValueSequence(
            of: { self.position }, isSame: { $0.isSame(as: $1) }, showing: { $0.element },
            observing: { [signals] signal in
                let number = signals.add(signal)
                return Place.counted { signals.remove(number) }
            })
    }

    /// The element, and the values that distinguish it from others.
    private var position: SlotPosition<Content> {
        guard let resource else { return SlotPosition(element: .placeholder) }
        let state = resource.state
        if let content = state.content {
            return SlotPosition(
                element: .content(content), resource: resource, version: state.snapshot.facts.contentVersion)
        }
        if state.isLoading { return SlotPosition(element: .placeholder) }
        return SlotPosition(element: .alternative(state.failure))
    }

    private static func leave(_ assignment: Assignment?) {
        guard let assignment else { return }
        assignment.resource.handle.remove(observer: assignment.number)
        if assignment.resource.isLoading {
            assignment.resource.cancelLoadIfUnobserved(after: .milliseconds(50))
        }
    }
}

/// The element that a ``ResourceSlot`` shows.
///
/// ```swift
/// let image = element.value(placeholder: .grey, alternative: .broken)
/// ```
public enum ResourceSlotElement<Content: Sendable>: Sendable {
    /// There is no resource, or its first content is being loaded.
    case placeholder
    /// The content, even while it is loaded again or after a failed load.
    case content(Content)
    /// There is neither content nor a load, because the load has failed or was cancelled. The failure is `nil` if there
    /// is none.
    case alternative(RequestFailure?)

    /// The content; otherwise one of these values.
    public func value(placeholder: Content, alternative: Content) -> Content {
        switch self {
        case .placeholder: placeholder
        case .content(let content): content
        case .alternative: alternative
        }
    }
}

extension ResourceSlotElement: Equatable where Content: Equatable {}

/// An element, and the values that distinguish it from others.
private struct SlotPosition<Content: Sendable>: Sendable {
    let element: ResourceSlotElement<Content>
    /// The resource of the content.
    var resource: Resource<Content>?
    /// The version of the content.
    var version: UInt64 = 0

    /// Whether this position shows the same as another one.
    func isSame(as other: SlotPosition) -> Bool {
        switch (element, other.element) {
        case (.placeholder, .placeholder): true
        case (.content, .content): resource == other.resource && version == other.version
        case (.alternative(nil), .alternative(nil)): true
        case (.alternative(let one?), .alternative(let other?)):
            ResourceStatus.failed(one).isSame(as: .failed(other))
        default: false
        }
    }
}
