internal import Foundation

/// The size of a program on disk without its symbols.
enum StrippedSize {
    /// Strips a copy; the program is not changed.
    static func sample(of program: URL) throws(RunnerError) -> Sample {
        let copy = FileManager.default.temporaryDirectory.appendingPathComponent("stripped-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: copy) }
        let result = try ChildProcess.run("strip", ["-o", copy.path, program.path], seconds: 60, joinsErrors: true)
        let attributes = try? FileManager.default.attributesOfItem(atPath: copy.path)
        guard result.status == 0, let size = attributes?[.size] as? UInt64 else {
            throw RunnerError("strip failed on \(program.lastPathComponent)")
        }
        return Sample(figures: [.strippedSizekB: Double(size) / 1024])
    }
}
