package io.writepath.jpareader;

import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import io.writepath.testsupport.ArchitectureRules;

@AnalyzeClasses(packages = "io.writepath")
class ArchitectureTests {

    @ArchTest
    static final ArchTests rules = ArchTests.in(ArchitectureRules.class);
}
