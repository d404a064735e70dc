import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsHTTP

/// Compares the rules with a slow reference that follows RFC 9111, 4.2, word for word. The reference does not read fields: it
/// is given what was written into them.
@Suite struct FreshnessReferenceTests {
    /// What a response says. All times are seconds after the same moment.
    struct Message {
        var fields = HTTPFields()
        var maximumAge: Double?
        /// Infinitely long ago if there is a text that is no date.
        var expires: Double?
        var date: Double?
        var age = 0.0

        init(_ numbers: inout SeededNumbers) {
            addDirectives(&numbers)
            let (dateText, date) = Self.date(&numbers, 0)
            if let dateText { fields[.date] = dateText }
            self.date = date
            let (expiresText, expires) = Self.date(&numbers, 200)
            if let expiresText {
                fields[.expires] = expiresText
                self.expires = expires ?? -.infinity
            }
            let ages: [(String?, Double)] = [
                (nil, 0), (nil, 0), ("0", 0), ("30", 30), ("30, 50", 30), ("x", 0), ("-1", 0), ("1.5", 0), ("007", 7),
            ]
            let (text, age) = ages.randomElement(using: &numbers) ?? (nil, 0)
            if let text { fields[.age] = text }
            self.age = age
        }

        private mutating func addDirectives(_ numbers: inout SeededNumbers) {
            let all: [(String, Double?)] = [
                ("max-age=100", 100), ("MAX-AGE=\"50\"", 50), ("max-age=0", 0), ("max-age=x", 0), ("max-age=1.5", 0),
                ("max-age", 0), ("max-age='100'", 0), ("max-age=300", 300), ("public", nil),
                ("foo=\"max-age=900\"", nil),
                ("s-maxage=900", nil), ("private", nil), ("must-revalidate", nil), ("", nil),
            ]
            let chosen = (0..<Int.random(in: 0...3, using: &numbers)).compactMap { _ in
                all.randomElement(using: &numbers)
            }
            if !chosen.isEmpty { fields[.cacheControl] = chosen.map(\.0).joined(separator: ", ") }
            maximumAge = chosen.compactMap(\.1).min()
        }

        private static func date(_ numbers: inout SeededNumbers, _ offset: Int) -> (String?, Double?) {
            let seconds = offset + Int.random(in: -300...300, using: &numbers)
            let text = CacheFixtures.date(Double(seconds))
            return switch Int.random(in: 0..<6, using: &numbers) {
            case 0: (nil, nil)
            case 1: ([text.replacing("GMT", with: "UTC"), "0", "", text + ", " + text][seconds & 3], nil)
            case 2: (text.lowercased(), Double(seconds))
            default: (text, Double(seconds))
            }
        }
    }

    /// RFC 9111, 4.2.1: the first that matches.
    private static func freshnessLifetime(_ message: Message, responseTime: Double) -> Double? {
        if let seconds = message.maximumAge { return seconds }
        if let expires = message.expires { return max(expires - (message.date ?? responseTime), 0) }
        return nil
    }

    /// RFC 9111, 4.2.3.
    private static func currentAge(
        _ message: Message, requestTime: Double, responseTime: Double, now: Double
    ) -> Double {
        let ageValue = message.age
        let dateValue = message.date ?? responseTime
        let apparentAge = max(0, responseTime - dateValue)
        let responseDelay = responseTime - requestTime
        let correctedAgeValue = ageValue + responseDelay
        let correctedInitialAge = max(apparentAge, correctedAgeValue)
        let residentTime = now - responseTime
        return correctedInitialAge + residentTime
    }

    @Test("Age and freshness are those of RFC 9111, 4.2", arguments: Array(1...8) as [UInt64])
    func reference(seed: UInt64) {
        var numbers = SeededNumbers(state: seed)
        var served = 0
        for round in 0..<2_000 {
            let message = Message(&numbers)
            let responseTime = Double(Int.random(in: -50...300, using: &numbers))
            let requestTime = responseTime - Double(Int.random(in: 0...20, using: &numbers))
            let now = responseTime + Double(Int.random(in: 0...300, using: &numbers))
            let lifetime = Self.freshnessLifetime(message, responseTime: responseTime)
            let age = Self.currentAge(message, requestTime: requestTime, responseTime: responseTime, now: now)
            let disposition = CacheRules.disposition(
                of: CacheFixtures.response(200, message.fields), to: CacheFixtures.request(), conditions: [:],
                stored: [], requestedAt: CacheFixtures.at(requestTime), now: CacheFixtures.at(responseTime),
                sent: { _ in nil }, isUnpacked: false, options: CacheOptions())
            let comment: Comment = "seed \(seed), round \(round): \(message.fields)"
            #expect((disposition.stored != nil) == (lifetime != nil), comment)
            guard let head = disposition.stored, let lifetime else { continue }
            #expect(head.lifetime == .seconds(lifetime), comment)
            #expect(head.age(at: CacheFixtures.at(now)) == .seconds(age), comment)
            let answer = CacheFixtures.answer([head], at: now)
            #expect((answer.kind == .serve) == (lifetime > age), comment)
            if answer.kind == .serve {
                served += 1
                let shown = head.servedFields(at: CacheFixtures.at(now), isValidated: false)
                #expect(shown[values: .age] == ["\(Int(age))"], comment)
            }
        }
        #expect(served > 100)
    }
}
