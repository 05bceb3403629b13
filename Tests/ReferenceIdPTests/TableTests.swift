import Crypto
import Encoding
import Testing

@testable import ReferenceIdP

private struct Item: Expiring, Hashable {
    var forgottenAt: Instant
}

@Suite struct TableTests {
    @Test func `a table forgets what is past its deadline, a little with each insertion`() {
        var table = ExpiringTable<Int, Item>(capacity: 1_000_000)
        for key in 0..<100_000 {
            table.insert(Item(forgottenAt: Instant(seconds: 300)), for: key, now: Instant(seconds: 0))
        }
        #expect(table.count == 100_000)
        var forgotten = 0
        for key in 0..<30_000 {
            let before = table.count
            forgotten +=
                table.insert(
                    Item(forgottenAt: Instant(seconds: 1300)), for: 1_000_000 + key, now: Instant(seconds: 1000)
                ).count
            #expect(before - table.count <= 4, "one insertion does not pay for all")
        }
        #expect(forgotten == 100_000)
        #expect(table.count == 30_000)
    }

    @Test func `a full table lets go of what would end first`() {
        var table = ExpiringTable<Int, Item>(capacity: 100)
        for key in 0..<1000 {
            table.insert(
                Item(forgottenAt: Instant(seconds: Int64(10_000 - key * 10))), for: key, now: Instant(seconds: 0))
            #expect(table.count <= 100)
        }
        #expect(table[0] != nil, "the one that lives longest stays")
    }

    @Test func `a moved deadline is kept`() {
        var table = ExpiringTable<Int, Item>(capacity: 100)
        table.insert(Item(forgottenAt: Instant(seconds: 10)), for: 1, now: Instant(seconds: 0))
        table[1]?.forgottenAt = Instant(seconds: 1000)
        #expect(table.sweep(now: Instant(seconds: 500)).isEmpty)
        #expect(table[1] != nil)
        #expect(table.sweep(now: Instant(seconds: 1100)) == [1])
    }

    @Test func `values that come and go leave no places behind`() {
        var table = ExpiringTable<Int, Item>(capacity: 1000)
        for round in 0..<200_000 {
            table.insert(Item(forgottenAt: Instant(seconds: 100_000)), for: round, now: Instant(seconds: 0))
            table.remove(round)
        }
        #expect(table.count == 0)
        #expect(table.queuedKeys <= 2048)
    }

    /// Against a dictionary that is scanned.
    @Test(arguments: 0..<20 as Range<UInt8>) func `a table agrees with a model that scans`(seed: UInt8) {
        var entropy = EntropyStream(seed: [seed])
        var table = ExpiringTable<Int, Item>(capacity: 10_000)
        var model: [Int: Item] = [:]
        var now = Instant(seconds: 1000)
        for _ in 0..<3000 {
            let dice = entropy.bytes(4).map(Int.init)
            let key = dice[1] % 64
            switch dice[0] % 8 {
            case 0...3:
                let item = Item(forgottenAt: now.adding(seconds: Int64(dice[2])))
                let forgotten = table.insert(item, for: key, now: now)
                for key in forgotten {
                    #expect((model[key]?.forgottenAt).map { $0 <= now } ?? false)
                    model[key] = nil
                }
                model[key] = item
            case 4: #expect(table.remove(key) == model.removeValue(forKey: key))
            case 5: now = now.adding(seconds: Int64(dice[3]))
            case 6: now = now.adding(seconds: -Int64(dice[3] / 8))
            default: #expect(table[key] == model[key])
            }
        }
        #expect(table.entries == model)
    }

    @Test(arguments: 0..<20 as Range<UInt8>) func `an ordered table pages in order of insertion`(seed: UInt8) {
        var entropy = EntropyStream(seed: [seed])
        var table = OrderedTable<Int, Int>()
        var model: [Int] = []
        for round in 0..<500 {
            let key = Int(entropy.bytes(1)[0]) % 40
            if round % 3 == 0 {
                table[key] = nil
                model.removeAll { $0 == key }
            } else {
                if table[key] == nil { model.append(key) }
                table[key] = round
            }
            #expect(table.count == model.count)
        }
        #expect(table.keys == model)
        var paged: [Int] = []
        while true {
            let page = table.page(after: paged.last, limit: 7)
            paged += page.map(\.key)
            if page.count < 7 { break }
        }
        #expect(paged == model)
    }

    @Test func `a deadline queue gives keys back by bucket, each once`() {
        var queue = DeadlineQueue<Int>()
        var generator = SeededGenerator(seed: 4)
        for key in (0..<1000).shuffled(using: &generator) {
            queue.push(key, deadline: Instant(seconds: Int64(key * 5)))
        }
        var popped: [Int] = []
        while let key = queue.popPassed(now: Instant(seconds: 2500)) { popped.append(key) }
        #expect(popped.sorted() == Array(0..<popped.count))
        #expect(popped.count >= 498 && popped.count <= 500)
        var rest = 0
        while queue.popEarliest() != nil { rest += 1 }
        #expect(popped.count + rest == 1000)
        #expect(queue.count == 0)
    }

    @Test func `a finding ring keeps the newest and numbers all`() {
        var ring = FindingRing(capacity: 3)
        #expect(ring.newest(limit: 5).isEmpty)
        for index in 0..<10 {
            ring.record(
                Finding(
                    at: Instant(seconds: Int64(index)), rule: "r\(index)", expected: "", actual: "", endpoint: "",
                    tenant: nil, clientID: nil))
        }
        #expect(ring.newest(limit: 5).map(\.finding.rule) == ["r7", "r8", "r9"])
        #expect(ring.since(8, limit: 5).map(\.sequence) == [9, 10])
        #expect(ring.since(0, limit: 2).map(\.sequence) == [8, 9])
        #expect(ring.since(99, limit: 2).isEmpty)
    }
}

/// A repeatable order of things.
struct SeededGenerator: RandomNumberGenerator {
    private var stream: EntropyStream
    init(seed: UInt8) { stream = EntropyStream(seed: [seed]) }
    mutating func next() -> UInt64 { stream.bytes(8).reduce(0) { $0 << 8 | UInt64($1) } }
}
