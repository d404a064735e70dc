import EssentialsTools
import EssentialsTransport
import Testing

@Suite("A priority that can be raised")
struct RaisablePriorityTests {
    private final class Heard: Sendable {
        let values = Mutex<[RequestPriority]>([])
        var list: [RequestPriority] { values.withLock { $0 } }
        func add(_ value: RequestPriority) { values.withLock { $0.append(value) } }
    }

    @Test("A priority is only raised, never lowered, and a handler receives each higher value once")
    func raises() {
        let priority = RaisablePriority(.low)
        let heard = Heard()
        let registration = priority.add { heard.add($0) }
        #expect(heard.list == [.low])
        let raises: [RequestPriority] = [.low, .background, .high, .normal, .high, .interactive]
        for value in raises { priority.raise(to: value) }
        #expect(priority.value == .interactive)
        #expect(heard.list == [.low, .high, .interactive])
        priority.remove(registration)
        #expect(priority.handlerCount == 0)
    }

    @Test("A handler that is added after a raise receives the present value, and none after its removal")
    func late() {
        let priority = RaisablePriority()
        priority.raise(to: .normal)
        let (first, second) = (Heard(), Heard())
        let registration = priority.add { first.add($0) }
        let other = priority.add { second.add($0) }
        priority.remove(registration)
        priority.raise(to: .high)
        #expect(first.list == [.normal])
        #expect(second.list == [.normal, .high])
        priority.remove(registration)
        priority.remove(other)
        #expect(priority.handlerCount == 0)
    }

    @Test("A handler can remove itself and read the value while it is called")
    func reentrancy() {
        let priority = RaisablePriority()
        let registration = Mutex<RaisablePriority.Registration?>(nil)
        let own = priority.add { value in
            #expect(priority.value == value)
            if let own = registration.withLock({ $0 }) { priority.remove(own) }
        }
        registration.withLock { $0 = own }
        priority.raise(to: .high)
        #expect(priority.handlerCount == 0)
    }

    @Test("A request has the higher one of its own and its raised priority")
    func ofRequest() throws {
        var request = TransportRequest(.get, try RequestURL("https://h/"))
        request.options.priority = .low
        #expect(request.priority == .low)
        let priority = RaisablePriority()
        request.raisablePriority = priority
        #expect(request.priority == .low)
        priority.raise(to: .high)
        #expect(request.priority == .high)
        request.options.priority = .interactive
        #expect(request.priority == .interactive)
    }
}
