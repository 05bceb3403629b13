import Foundation
import Glibc
import Synchronization
import Testing

@testable import Crypto

@Suite struct SecretBytesTests {
    @Test func `bytes are given out once, and then the memory holds zeros`() {
        var source: [UInt8] = [1, 2, 3, 4]
        let secret = SecretBytes(wiping: &source)
        #expect(source.isEmpty)
        #expect(!secret.isTaken)
        #expect(secret.take() == [1, 2, 3, 4])
        #expect(secret.isTaken)
        #expect(secret.peek() == [0, 0, 0, 0])
        #expect(secret.take() == nil)
    }

    @Test func `of many who take at once one gets the bytes`() async {
        for _ in 0..<50 {
            var source = [UInt8](repeating: 9, count: 32)
            let secret = SecretBytes(wiping: &source)
            let winners = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<8 { group.addTask { secret.take() != nil } }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(winners == 1)
        }
    }

    @Test func `wiped bytes are not given out`() {
        var source: [UInt8] = [5, 6]
        let secret = SecretBytes(wiping: &source)
        secret.wipe()
        #expect(secret.take() == nil)
        #expect(secret.peek() == [0, 0])
    }

    @Test func `a secret shows nothing of itself`() {
        var source: [UInt8] = [0xAB, 0xCD]
        let secret = SecretBytes(wiping: &source)
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), dumped] {
            #expect(!text.contains("171"))
            #expect(!text.lowercased().contains("abcd"))
        }
    }

    @Test func `after a decapsulation is taken and wiped no copy is left in the process's memory`() throws {
        let entropy = Entropy.system
        let key = try P256.PrivateKey.generate(entropy)
        let sender = try P256.PrivateKey.generate(entropy)
        let held = try DHKEM.decapsulate(sender.publicKey.x963, with: key)
        #expect(try Memory.copies(ofMasked: masked(held)) > 0, "the scan finds a secret that is there")

        let kept = try DHKEM.decapsulate(sender.publicKey.x963, with: key)
        let pattern = masked(kept)
        held.wipe()
        var taken = try #require(kept.take())
        taken.wipe()
        #expect(try Memory.copies(ofMasked: pattern) == 0)
    }

    /// The secret with all bits turned over, so that the test itself holds no copy.
    private func masked(_ secret: SecretBytes) -> [UInt8] {
        var plain = secret.peek()
        defer { plain.wipe() }
        return plain.map { ~$0 }
    }
}

/// The memory of this process, as a debugger would read it.
private enum Memory {
    /// How often the bytes stand in writable memory whose complement `masked` is.
    static func copies(ofMasked masked: [UInt8]) throws -> Int {
        let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
        let file = open("/proc/self/mem", O_RDONLY)
        try #require(file >= 0)
        defer { close(file) }
        var found = 0
        for line in maps.split(separator: "\n") where line.split(separator: " ")[1].hasPrefix("rw") {
            let bounds = line.split(separator: " ")[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
            guard bounds.count == 2 else { continue }
            found += scan(file, bounds[0]..<bounds[1], masked)
        }
        return found
    }

    private static func scan(_ file: Int32, _ range: Range<UInt64>, _ masked: [UInt8]) -> Int {
        let size = 1 << 20
        let overlap = masked.count - 1
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
        defer {
            // What was read must not be found by a later scan.
            buffer.initializeMemory(as: UInt8.self, repeating: 0)
            buffer.deallocate()
        }
        let first = ~masked[0]
        var found = 0
        var offset = range.lowerBound
        while offset < range.upperBound {
            let count = pread(file, buffer.baseAddress, min(size, Int(range.upperBound - offset)), off_t(offset))
            guard count > overlap else { break }
            for start in 0..<(count - overlap) where buffer[start] == first {
                if masked.indices.allSatisfy({ buffer[start + $0] == ~masked[$0] }) { found += 1 }
            }
            guard count == size else { break }
            offset += UInt64(count - overlap)
        }
        return found
    }
}
