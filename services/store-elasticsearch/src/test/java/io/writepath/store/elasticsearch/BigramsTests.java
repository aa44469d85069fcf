package io.writepath.store.elasticsearch;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BigramsTests {

    @Test
    void aTextHasAsManyPairsAsCharactersAndTheLastEndsIt() {
        assertThat(Bigrams.ofText("ab")).isEqualTo("000061000062 000062ffffff");
        assertThat(Bigrams.ofText("영")).isEqualTo("00c601ffffff");
    }

    @Test
    void aKeywordHasOneLess() {
        assertThat(Bigrams.ofKeyword("a b")).isEqualTo("000061000020 000020000062");
        assertThat(Bigrams.ofKeyword("영화")).isEqualTo("00c60100d654");
    }

    @Test
    void aCharacterOfTwoCodeUnitsIsOne() {
        assertThat(Bigrams.ofText("😀")).isEqualTo("01f600ffffff");
        assertThat(Bigrams.beginning("😀")).isEqualTo("01f600");
        assertThat(Bigrams.beginning("a")).isEqualTo("000061");
    }

    @Test
    void noTwoTextsAreCutAlike() {
        assertThat(Bigrams.ofText("ab")).isNotEqualTo(Bigrams.ofText("AB"));
        assertThat(Bigrams.ofText("é")).isNotEqualTo(Bigrams.ofText("e\u0301"));
        assertThat(Bigrams.ofText(" ")).isEqualTo("000020ffffff");
    }
}
