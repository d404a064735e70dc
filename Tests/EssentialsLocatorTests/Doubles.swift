import EssentialsTools

@testable import EssentialsLocator

protocol Greeter: AnyObject, Sendable {
    var greeting: String { get }
}

protocol Clock: AnyObject, Sendable {
    var hour: Int { get }
}

protocol Mailer: AnyObject, Sendable {
    var greeter: any Greeter { get }
}

final class PoliteGreeter: Greeter {
    let greeting: String
    init(_ greeting: String = "Good day") { self.greeting = greeting }
}

final class FixedClock: Clock {
    let hour: Int
    init(hour: Int = 12) { self.hour = hour }
}

final class GreetingMailer: Mailer {
    let greeter: any Greeter
    init(greeter: any Greeter) { self.greeter = greeter }
}

/// An object with two protocols, for casts.
final class GreetingClock: Greeter, Clock {
    let greeting = "Tick"
    let hour = 1
}

/// Calls a closure in `deinit`.
final class Mortal: Greeter {
    let greeting: String
    private let onDeath: @Sendable (String) -> Void

    init(_ greeting: String = "Mortal", onDeath: @escaping @Sendable (String) -> Void) {
        self.greeting = greeting
        self.onDeath = onDeath
    }

    deinit { onDeath(greeting) }
}

struct FactoryFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String = "no disk") { self.description = description }
}

/// A number that several threads increment.
final class Counter: Sendable {
    private let count = Atomic<Int>(0)
    var value: Int { count.load(ordering: .sequentiallyConsistent) }

    @discardableResult
    func increment() -> Int {
        count.add(1, ordering: .sequentiallyConsistent).newValue
    }
}

/// A list that several threads append to.
final class Recorder<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])
    var all: [Element] { elements.withLock { $0 } }
    func append(_ element: Element) { elements.withLock { $0.append(element) } }
}

/// Threads outside the cooperative pool, which must not be blocked. Each runs one closure.
final class Workers {
    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private var threads: [pthread_t] = []

    func start(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(body))
        let code = pthread_create(
            &thread, nil,
            { argument in
                if let argument {
                    Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
                }
                return nil
            }, work.toOpaque())
        precondition(code == 0, "cannot start a thread")
        threads.append(thread)
    }

    func join() {
        for thread in threads { pthread_join(thread, nil) }
        threads = []
    }

    /// Runs `body` on `count` threads at once and waits for them all.
    static func run(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let workers = Workers()
        let arrived = Counter()
        for index in 0..<count {
            workers.start {
                // All threads begin together, so that they reach the tested code at the same time.
                arrived.increment()
                while arrived.value < count { sched_yield() }
                body(index)
            }
        }
        workers.join()
    }
}

/// Blocks until `condition` holds, without a time limit of its own.
func spin(until condition: () -> Bool) {
    while !condition() { sched_yield() }
}

extension ServiceLocator {
    /// A root locator whose warnings, and those of its descendants, go to a recorder instead of standard error.
    static func silent(_ name: String, warnings: Recorder<ServiceLocatorError> = Recorder()) -> ServiceLocator {
        ServiceLocator(name: name, watch: nil) { warnings.append($0) }
    }
}

/// The typed error that `body` throws, or `nil`.
func failure<Result>(of body: () throws(ServiceLocatorError) -> Result) -> ServiceLocatorError? {
    do throws(ServiceLocatorError) {
        _ = try body()
        return nil
    } catch {
        return error
    }
}

/// Ends the process of an exit test, with the line, unless the condition is true.
func demand(_ condition: @autoclosure () throws -> Bool, file: StaticString = #file, line: UInt = #line) {
    precondition((try? condition()) == true, "not so", file: file, line: line)
}
