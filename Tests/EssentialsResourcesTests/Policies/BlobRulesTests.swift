import EssentialsHTTP
import Testing

@testable import EssentialsResources

@Suite("Blobs: rules and values")
struct BlobRulesTests {
    @Test(
        "Only whole responses are stored, and sensitive ones only if that is allowed",
        arguments: [
            (200, "", false, false, true), (203, "", false, false, true), (204, "", false, false, false),
            (206, "", false, true, false), (200, "no-store", false, false, false), (200, "no-store", false, true, true),
            (200, "", true, false, false), (200, "", true, true, true),
        ])
    func storing(status: Int, cacheControl: String, isPersonal: Bool, allowsSensitive: Bool, isStored: Bool) {
        let fields: HTTPFields = cacheControl.isEmpty ? [:] : [.cacheControl: cacheControl]
        #expect(
            BlobRules.allowsStoring(
                status, fields, isPersonal: isPersonal, partition: .shared, allowsSensitive: allowsSensitive)
                == isStored)
    }

    @Test("The name of a file with bytes is read as it was written, and other names are not")
    func names() {
        let name = EntityFile.Name(EntityKey(url: "https://h/a", stage: BlobRecord.stage))
        for generation in [0, 1, UInt64.max] {
            let body = BlobBodyName(name, generation)
            #expect(BlobBodyName(body.text) == body)
            #expect(EntityFile.Name(body.text) == nil)
        }
        let text = BlobBodyName(name, 1).text
        for other in ["", ".body", "-.body", name.text, text + "x", "x" + text, text.uppercased()] {
            #expect(BlobBodyName(other) == nil)
        }
    }

    @Test("The index never gives away more space than there is", arguments: [1, 2, 3, 4] as [UInt64])
    func index(seed: UInt64) {
        var numbers = SeededNumbers(state: seed)
        var index = BlobIndex(maximumBytes: 100_000)
        var stored: [EntityFile.Name: (generation: UInt64, space: Int)] = [:]
        var reserved: [Int] = []
        for step in 0..<10_000 {
            let name = EntityFile.Name(EntityKey(url: "https://h/\(numbers.next() % 20)", stage: BlobRecord.stage))
            var removed: [BlobBodyName] = []
            switch numbers.next() % 4 {
            case 0:
                let bytes = BlobIndex.space(Int64(numbers.next() % 60_000))
                if let evicted = index.reserve(bytes) {
                    removed = evicted
                    reserved.append(bytes)
                } else {
                    #expect(bytes + reserved.reduce(0, +) > 100_000)
                }
            case 1 where !reserved.isEmpty:
                let bytes = reserved.removeFirst()
                removed = index.insert(BlobBodyName(name, UInt64(step)), space: bytes, reservation: bytes)
                stored[name] = (UInt64(step), bytes)
            case 2 where !reserved.isEmpty: index.release(reserved.removeFirst())
            default:
                index.remove(name)
                stored[name] = nil
            }
            for body in removed {
                #expect(stored[body.name]?.generation == body.generation)
                stored[body.name] = nil
            }
            #expect(index.reserved == reserved.reduce(0, +), "seed \(seed), step \(step)")
            #expect(index.bytes == stored.values.reduce(0) { $0 + $1.space }, "seed \(seed), step \(step)")
            #expect(
                index.count == stored.count && index.bytes + index.reserved <= 100_000, "seed \(seed), step \(step)")
        }
    }
}
