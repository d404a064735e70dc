import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import Glibc
import Testing

@testable import EssentialsResources

// One test counts the threads that the others start too.
@Suite("Memory pressure", .leavesNothing, .serialized)
struct MemoryPressureTests {
    @Test("Low pressure drops half of the unused resources, critical pressure all of them")
    func service() throws {
        let pressure = ManualMemoryPressure()
        let fixture = try ResourceFixture { $0.memoryPressure = pressure }
        let used: Resource<Item> = fixture.service.resource("used")
        used.override(with: Item(name: "kept"))
        for number in 0..<100 { _ = fixture.service.resource("items/\(number)", as: Item.self).state }
        #expect(fixture.service.resourceCount == 101)
        pressure.report(.low)
        #expect(fixture.service.resourceCount == 51)
        pressure.report(.critical)
        #expect(fixture.service.resourceCount == 1)
        #expect(used.content?.name == "kept")
    }

    @Test("Critical pressure drops bodies that are kept for further content types, but no content")
    func bodies() async throws {
        let pressure = ManualMemoryPressure()
        let fixture = try ResourceFixture { $0.memoryPressure = pressure }
        fixture.transport.on(.get, "/v1/item").answer(json: Item(name: "a"))
        let item: Resource<Item> = fixture.service.resource("item")
        try await item.load()
        pressure.report(.low)
        #expect(item.resource(as: [String: String].self).content == ["name": "a"])
        pressure.report(.critical)
        #expect(item.content?.name == "a")
        #expect(item.resource(as: String.self).content == nil)
    }

    @Test("Pressure drops entities of caches in memory: half of them if it is low, all if it is critical")
    func caches() async throws {
        let (pressure, cache) = (ManualMemoryPressure(), MemoryEntityCache())
        let fixture = try ResourceFixture(cache: cache) { $0.memoryPressure = pressure }
        fixture.transport.on(.get, "/v1/items/*").answer(json: Item(name: "a"))
        for number in 0..<10 { _ = try await fixture.service.resource("items/\(number)", as: Item.self).load() }
        while cache.count < 10 { await Task.yield() }
        cache.trim(part: .nan)
        #expect(cache.count == 10)
        pressure.report(.low)
        #expect(cache.count == 5)
        pressure.report(.critical)
        #expect(cache.count == 0)
    }

    @Test("Pressure releases the observers of released owners", arguments: [MemoryPressure.low, .critical])
    func deadOwners(level: MemoryPressure) throws {
        let pressure = ManualMemoryPressure()
        let fixture = try ResourceFixture { $0.memoryPressure = pressure }
        let item: Resource<Int> = fixture.service.resource("item")
        let log = EventLog()
        var owner: Owner? = Owner()
        weak var observer: Listener?
        do {
            let own = Listener(log)
            observer = own
            item.addObserver(own, owner: owner)
        }
        withExtendedLifetime(owner) { pressure.report(level) }
        #expect(observer != nil)
        #expect(log.stops == 0)
        owner = nil
        #expect(observer != nil)
        pressure.report(level)
        #expect(observer == nil)
        #expect(log.stops == 1)
    }

    @Test("A closed or released service is not notified of pressure any more")
    func end() async throws {
        let pressure = ManualMemoryPressure()
        var fixture: ResourceFixture? = try ResourceFixture { $0.memoryPressure = pressure }
        weak let service = fixture?.service
        _ = fixture?.service.resource("item", as: Item.self).state
        await fixture?.service.close()
        pressure.report(.critical)
        #expect(fixture?.service.resourceCount == 1)
        fixture = nil
        while service != nil { await Task.yield() }
    }

    @Test("Each poll event of a descriptor is reported, until the loop is stopped")
    func loop() async throws {
        let urgent = try UrgentSocket()
        let (reports, continuation) = AsyncStream.makeStream(of: MemoryPressure.self)
        let loop = try PressureLoop([PressureDescriptor(number: urgent.receiver, meaning: .pressure(.low))]) {
            urgent.consume()
            continuation.yield($0)
        }
        var iterator = reports.makeAsyncIterator()
        for _ in 0..<3 {
            urgent.send()
            #expect(await iterator.next() == .low)
        }
        loop.stop()
        // The loop has closed its end.
        #expect(urgent.isClosed)
    }

    @Test("A loop can be stopped by the function that it calls")
    func stopInside() async throws {
        let urgent = try UrgentSocket()
        let stopped = AsyncStream.makeStream(of: Void.self)
        let box = Mutex<PressureLoop?>(nil)
        let loop = try PressureLoop([PressureDescriptor(number: urgent.receiver, meaning: .pressure(.low))]) { _ in
            urgent.consume()
            while box.withLock({ $0 == nil }) { sched_yield() }
            box.withLock { $0.take() }?.stop()
            stopped.continuation.finish()
        }
        box.withLock { $0 = loop }
        urgent.send()
        for await _ in stopped.stream {}
    }

    @Test("The kernel's source starts one thread for all observers, and ends it with the last one")
    func kernel() async throws {
        let source: KernelMemoryPressure
        do throws(RequestFailure) {
            source = try KernelMemoryPressure()
        } catch {
            #expect(error.reason == .resources)
            #expect(error.remedy?.contains("ManualMemoryPressure") == true)
            try Test.cancel("This kernel does not report memory pressure: \(error.message)")
        }
        let first = try source.observe { _ in }
        let second = try source.observe { _ in }
        // A thread sets its own name.
        while Self.threads == 0 { await Task.yield() }
        #expect(Self.threads == 1)
        first.cancel()
        first.cancel()
        #expect(Self.threads == 1)
        second.cancel()
        // The thread has been joined. The kernel lists it a moment longer.
        for _ in 0..<1_000 where Self.threads > 0 { usleep(1_000) }
        #expect(Self.threads == 0)
    }

    @Test("If the kernel accepts the triggers, they report by themselves, and nothing is read")
    func accepted() async throws {
        let folder = try PressureFolder()
        try folder.write("some avg10=99.00\nfull avg10=99.00\n", to: "system")
        let opened = Mutex<[String]>([])
        var setup = PressureSetup(directory: nil)
        setup.system = folder.path + "/system"
        setup.clock = folder.clock.requestClock
        setup.ask = { trigger, _ throws(SystemError) in
            opened.withLock { $0.append(trigger) }
            // It can be polled, and never reports anything.
            let number = open("/dev/null", O_RDWR | O_CLOEXEC)
            guard number >= 0 else { throw .last }
            return number
        }
        let found = try setup.open()
        #expect(found.averages == nil)
        #expect(found.descriptors.count == 2)
        for descriptor in found.descriptors { close(descriptor.number) }
        let source = try KernelMemoryPressure(setup)
        let observation = try source.observe { _ in Issue.record("Nothing was reported.") }
        #expect(folder.clock.sleeperCount == 0)
        let both = ["some 70000 2000000", "full 100000 2000000"]
        #expect(opened.withLock { $0 } == both + both + both)
        observation.cancel()
    }

    /// The number of threads that wait for the kernel.
    private static var threads: Int {
        guard let directory = opendir("/proc/self/task") else { return -1 }
        defer { closedir(directory) }
        var count = 0
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard let file = fopen("/proc/self/task/\(name)/comm", "r") else { continue }
            defer { fclose(file) }
            var line = [CChar](repeating: 0, count: 64)
            guard fgets(&line, 64, file) != nil else { continue }
            if String(decoding: line.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self) == "essentials-psi\n" {
                count += 1
            }
        }
        return count
    }
}

/// A connection whose urgent data are a poll event of the same kind as the kernel's reports.
private struct UrgentSocket: Sendable {
    let receiver: Int32
    private let sender: Int32

    init() throws {
        var pair: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &pair) == 0)
        (receiver, sender) = (pair[0], pair[1])
    }

    func send() {
        var byte: UInt8 = 1
        #expect(Glibc.send(sender, &byte, 1, Int32(MSG_OOB)) == 1)
    }

    /// Whether the receiver was closed.
    var isClosed: Bool {
        var byte: UInt8 = 1
        return Glibc.send(sender, &byte, 1, Int32(MSG_NOSIGNAL)) == -1 && errno == EPIPE
    }

    func consume() {
        var byte: UInt8 = 0
        _ = recv(receiver, &byte, 1, Int32(MSG_OOB))
    }
}
