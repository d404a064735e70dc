import EssentialsHTTP
import EssentialsStorage
import Glibc

/// A program or library in the memory of this process, as the dynamic linker has loaded it.
enum LoadedImage {
    /// The description of an address that is the same in each process of one binary: the build identifier of the image that
    /// contains it, and the distance from the image's beginning. It is `nil` if no image contains the address, or if the
    /// image has no build identifier.
    package static func place(of address: UInt) -> String? {
        guard let start = start(of: address), let identifier = buildIdentifier(at: start) else { return nil }
        let distance = address - UInt(bitPattern: start)
        return identifier.map { StableHash.hexadecimal($0) }.joined() + "+" + String(distance, radix: 16)
    }

    /// The arguments and the result of `dladdr`. The imported headers do not declare it, because it is an extension of the C
    /// library, so it is looked up by its name.
    private typealias Lookup = @convention(c) (UnsafeRawPointer, UnsafeMutableRawPointer) -> Int32

    private static let lookup: Lookup? = dlsym(nil, "dladdr").map { unsafeBitCast($0, to: Lookup.self) }

    /// The beginning of the image that contains an address, where its header is.
    private static func start(of address: UInt) -> UnsafeRawPointer? {
        guard let lookup, let pointer = UnsafeRawPointer(bitPattern: address) else { return nil }
        // `Dl_info`: the path, the beginning, the name and the address of the nearest symbol.
        var info: (UnsafeRawPointer?, UnsafeRawPointer?, UnsafeRawPointer?, UnsafeRawPointer?) = (nil, nil, nil, nil)
        let isFound = withUnsafeMutableBytes(of: &info) { bytes in
            bytes.baseAddress.map { lookup(pointer, $0) != 0 } ?? false
        }
        guard isFound, let start = info.1, UInt(bitPattern: start) <= address else { return nil }
        return start
    }

    // MARK: The build identifier

    /// The identifier that the linker has computed from the content of the image (`NT_GNU_BUILD_ID`); `nil` if there is
    /// none. Images of 32 bits are not read.
    private static func buildIdentifier(at start: UnsafeRawPointer) -> [UInt8]? {
        let header = start.loadUnaligned(as: Elf64_Ehdr.self)
        guard header.e_ident.0 == 0x7f, header.e_ident.1 == UInt8(ascii: "E"), header.e_ident.2 == UInt8(ascii: "L"),
            header.e_ident.3 == UInt8(ascii: "F"), header.e_ident.4 == 2,
            Int(header.e_phentsize) == MemoryLayout<Elf64_Phdr>.size
        else { return nil }
        let segments = (0..<Int(header.e_phnum)).map { index in
            (start + Int(header.e_phoff) + index * MemoryLayout<Elf64_Phdr>.size).loadUnaligned(as: Elf64_Phdr.self)
        }
        // Addresses count from that of the first loaded segment, which is zero for libraries.
        guard let first = segments.first(where: { $0.p_type == UInt32(PT_LOAD) }) else { return nil }
        let origin = first.p_vaddr - first.p_vaddr % 4_096
        for segment in segments where segment.p_type == UInt32(PT_NOTE) && segment.p_vaddr >= origin {
            let notes = UnsafeRawBufferPointer(
                start: start + Int(segment.p_vaddr - origin), count: Int(segment.p_memsz))
            if let identifier = buildIdentifier(in: notes) { return identifier }
        }
        return nil
    }

    /// The identifier among notes, each of which has the sizes of its name and its content, its type, the name and the
    /// content, padded to four bytes.
    static func buildIdentifier(in notes: UnsafeRawBufferPointer) -> [UInt8]? {
        var reader = ByteReader(notes)
        while let nameSize: UInt32 = reader.number(), let size: UInt32 = reader.number(),
            let type: UInt32 = reader.number(), let name = reader.take(padded(nameSize)),
            let content = reader.take(padded(size))
        {
            guard type == 3, name.elementsEqual(Array("GNU\0".utf8)), size > 0 else { continue }
            return Array(content.prefix(Int(size)))
        }
        return nil
    }

    private static func padded(_ size: UInt32) -> Int { (Int(size) + 3) / 4 * 4 }
}
