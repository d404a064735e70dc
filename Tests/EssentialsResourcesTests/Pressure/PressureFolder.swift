import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Glibc

@testable import EssentialsResources

/// A directory with files like those of the kernel, and a source that reads them.
final class PressureFolder: Sendable {
    let path = "/tmp/essentials-pressure-\(getpid())-\(UInt64.random(in: .min ... .max))"
    let clock = ManualClock()
    /// The requested triggers.
    let asked = Mutex<[String]>([])

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path + "/" + name))
    }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path + "/" + name) }

    /// A source whose triggers the kernel refuses, as it does before Linux 6.4 without privileges.
    func source(hasGroup: Bool = true) throws(RequestFailure) -> KernelMemoryPressure {
        var setup = PressureSetup(directory: hasGroup ? path : nil)
        setup.system = path + "/system"
        setup.clock = clock.requestClock
        setup.ask = { [self] trigger, file throws(SystemError) in
            asked.withLock { $0.append("\(file.dropFirst(path.count + 1)) \(trigger)") }
            throw SystemError(code: EPERM)
        }
        return try KernelMemoryPressure(setup)
    }
}
